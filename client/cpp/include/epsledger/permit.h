#ifndef EPSLEDGER_PERMIT_H_
#define EPSLEDGER_PERMIT_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "epsledger/mechanism.h"

namespace epsledger {

class Lease;
class Session;

// The proof that the ledger durably ACCEPTED one charge, still to be spent on noise.
//
// 1. Only a Session or a Lease makes one, and only from an ACCEPTED answer that repeats exactly the
//    key, event and count that it asked for (the ledger's invariant I19).
// 2. It cannot be copied. After fork() only the parent's permit can be used. Moving leaves the
//    source with no uses, so the uses of all permits of one charge never add up to more than its
//    count.
// 3. Dropping a permit returns nothing: what is charged stays charged.
//
// Not thread-safe; hand it over by moving.
class [[nodiscard]] Permit {
 public:
  Permit(Permit&& other) noexcept;
  Permit& operator=(Permit&& other) noexcept;
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  ~Permit() = default;

  // "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}".
  const std::string& charge_name() const { return charge_name_; }
  // The charge's position in the root budget's ledger; >= 1.
  int64_t sequence() const { return sequence_; }
  const Mechanism& mechanism() const { return mechanism_; }
  // Returns how many charged uses of the mechanism this permit still has; 0 after a move, and in a
  // child of fork().
  int64_t uses_left() const;

  // Moves one use out into a permit of its own: a charge of count n allows n noisy releases.
  // OUT_OF_RANGE if no use is left; FAILED_PRECONDITION in a child of fork().
  absl::StatusOr<Permit> TakeOne();

 private:
  friend class Lease;
  friend class Session;
  Permit(std::string charge_name, int64_t sequence, Mechanism mechanism, int64_t uses_left);

  std::string charge_name_;
  int64_t sequence_;
  Mechanism mechanism_;
  int64_t uses_left_;
  pid_t process_;  // the process that got the permit
};

}  // namespace epsledger

#endif  // EPSLEDGER_PERMIT_H_
