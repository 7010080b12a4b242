#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_LEDGER_RELEASE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_LEDGER_RELEASE_H_

#include <Eigen/Core>

#include "absl/status/statusor.h"
#include "client/trainers/istdp/gradient_release.h"
#include "epsledger/session.h"

namespace epsledger::istdp {

// Charges `gaussian{noise_multiplier}` to a session, waits for the permit, and spends it on the
// noise. One release is one charge. Not thread-safe. The session outlives it.
class LedgerRelease : public GradientRelease {
 public:
  LedgerRelease(Session& session, double noise_multiplier);

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override;

  // The event of every charge.
  const Mechanism& mechanism() const { return mechanism_; }

 private:
  Session& session_;
  const Mechanism mechanism_;
};

}  // namespace epsledger::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_LEDGER_RELEASE_H_
