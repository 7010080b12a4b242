#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_RELEASE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_RELEASE_H_

#include <Eigen/Core>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "client/trainers/run/gradient_release.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// Charges one use of `mechanism`, gaussian or poissonSampled{gaussian}, to a session, waits for the
// permit, and spends it on the noise. One release is one charge or, with a lease size, one step of
// a lease of that many steps. Near the end of the budget a lease has as many steps as fit. Not
// thread-safe. The session must outlive this object.
class LedgerRelease : public GradientRelease {
 public:
  // `lease_size` in [0, 2^53]; 0: no leases.
  LedgerRelease(Session& session, Mechanism mechanism, int64_t lease_size = 0);

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override;

  // The event of every charge.
  const Mechanism& mechanism() const { return mechanism_; }
  // Returns how long Release has waited for permits so far: the cost of accounting.
  std::chrono::nanoseconds charge_time() const { return charge_time_; }

 private:
  absl::StatusOr<Permit> NextPermit();

  Session& session_;
  const Mechanism mechanism_;
  const int64_t lease_size_;
  std::optional<Lease> lease_;
  std::chrono::nanoseconds charge_time_{0};
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_RELEASE_H_
