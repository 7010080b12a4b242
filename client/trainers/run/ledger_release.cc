#include "client/trainers/run/ledger_release.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "accounting/event/status_macros.h"
#include "epsledger/noise.h"
#include "epsledger/refusal.h"

namespace epsledger::trainers {

namespace {

// After this time people should ask what happened to a lease; no lease ends by itself.
constexpr std::chrono::hours kLeaseTime{24};

absl::StatusOr<Lease> AcquireUpTo(Session& session, const Mechanism& mechanism, int64_t count) {
  absl::StatusOr<Lease> lease = session.AcquireLease(mechanism, count, kLeaseTime);
  if (lease.ok()) return lease;
  const std::optional<RefusalDetails> refusal = RefusalOf(lease.status());
  if (!refusal.has_value() || refusal->steps_that_fit < 1 || refusal->steps_that_fit >= count) {
    return lease;
  }
  return session.AcquireLease(mechanism, refusal->steps_that_fit, kLeaseTime);
}

}  // namespace

LedgerRelease::LedgerRelease(Session& session, Mechanism mechanism, int64_t lease_size)
    : session_(session), mechanism_(std::move(mechanism)), lease_size_(lease_size) {}

absl::StatusOr<Permit> LedgerRelease::NextPermit() {
  if (lease_size_ == 0) return session_.Charge(mechanism_);
  if (!lease_.has_value() || lease_->used_count() == lease_->granted_count()) {
    lease_.reset();  // settles it
    ASSIGN_OR_RETURN(Lease lease, AcquireUpTo(session_, mechanism_, lease_size_));
    lease_ = std::move(lease);
  }
  return lease_->Take();
}

absl::StatusOr<Eigen::VectorXd> LedgerRelease::Release(const Eigen::VectorXd& exact_sum,
                                                       double contribution) {
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<Permit> permit = NextPermit();
  charge_time_ += std::chrono::steady_clock::now() - start;
  if (!permit.ok()) return permit.status();
  Eigen::VectorXd released = exact_sum;
  const std::span<double> values(released.data(), static_cast<size_t>(released.size()));
  RETURN_IF_ERROR(AddGaussianNoise(*std::move(permit), contribution, values));
  return released;
}

}  // namespace epsledger::trainers
