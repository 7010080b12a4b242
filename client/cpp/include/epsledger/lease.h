#ifndef EPSLEDGER_LEASE_H_
#define EPSLEDGER_LEASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/mechanism.h"
#include "epsledger/permit.h"

namespace epsledger {

// A block of steps that the ledger durably ACCEPTED as one charge. Its steps are spent without
// asking the server.
//
// 1. Only Session::AcquireLease makes one, from an answer that grants exactly the key, event and
//    count that it asked for. At most that many permits are ever taken from it (the ledger's
//    invariant I19).
// 2. It cannot be copied. Moving leaves the source with nothing.
// 3. Everything was charged when it was acquired. Settling records how much was used, and returns
//    nothing to any budget: granted = used + wasted. A lost lease counts as spent in full.
// 4. The destructor of a lease that is not settled settles it, with one try. If that fails, the
//    lease stays open in the ledger, spent in full.
//
// Take and Settle are thread-safe. In a forked child both fail with FAILED_PRECONDITION: parent and
// child would spend the same steps.
class [[nodiscard]] Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // Returns the permit for one more step, without asking the server. OUT_OF_RANGE if all are taken,
  // FAILED_PRECONDITION after Settle or a move.
  absl::StatusOr<Permit> Take();

  // Ends the lease and reports to the ledger how many permits were taken, until the ledger confirms
  // it or the tries are used up. After the first call no permit can be taken, whatever the result.
  // A later call tries again, and returns OK once one has succeeded.
  absl::Status Settle();

  // "budgets/{budget}/sessions/{session}/attempts/{attempt}/leases/{lease}"; empty after a move.
  const std::string& name() const;
  // REQUIRES: not moved from.
  const Mechanism& mechanism() const;
  int64_t granted_count() const;
  int64_t used_count() const;  // permits taken

 private:
  friend class Session;
  struct Impl;
  explicit Lease(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;  // null after a move
};

}  // namespace epsledger

#endif  // EPSLEDGER_LEASE_H_
