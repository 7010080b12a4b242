#include "client/trainers/istdp/ledger_release.h"

#include <cstddef>
#include <span>
#include <utility>

#include "epsledger/noise.h"

namespace epsledger::istdp {

LedgerRelease::LedgerRelease(Session& session, double noise_multiplier)
    : session_(session), mechanism_(Mechanism::Gaussian(noise_multiplier)) {}

absl::StatusOr<Eigen::VectorXd> LedgerRelease::Release(const Eigen::VectorXd& exact_sum,
                                                       double contribution) {
  absl::StatusOr<Permit> permit = session_.Charge(mechanism_);
  if (!permit.ok()) return permit.status();
  Eigen::VectorXd released = exact_sum;
  const std::span<double> values(released.data(), static_cast<std::size_t>(released.size()));
  if (absl::Status noised = AddGaussianNoise(*std::move(permit), contribution, values);
      !noised.ok()) {
    return noised;
  }
  return released;
}

}  // namespace epsledger::istdp
