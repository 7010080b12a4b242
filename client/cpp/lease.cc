#include "epsledger/lease.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cpp/lease_impl.h"

namespace epsledger {
namespace {

absl::Status OfAnotherProcess() {
  return absl::FailedPreconditionError(
      "this lease was acquired before a fork: acquire one of this process's own");
}

v1::SettleLeaseRequest SettleRequest(const std::string& name, int64_t used_count) {
  v1::SettleLeaseRequest request;
  request.set_name(name);
  request.set_used_count(used_count);
  return request;
}

}  // namespace

Lease::Lease(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  // The destructor of `old` settles the lease that was held here.
  if (this != &other) const Lease old(std::exchange(impl_, std::move(other.impl_)));
  return *this;
}

Lease::~Lease() {
  if (impl_ == nullptr || getpid() != impl_->process) return;
  v1::SettleLeaseRequest request;
  {
    absl::MutexLock lock(&impl_->mutex);
    if (impl_->settled) return;
    request = SettleRequest(impl_->name, impl_->used_count);
  }
  v1::Lease settled;
  // If this fails, the lease is spent in full.
  Connection::TryOnce(impl_->connection->charges(), &v1::ChargeService::StubInterface::SettleLease,
                      request, &settled, impl_->connection->retry().call_timeout)
      .IgnoreError();
}

absl::StatusOr<Permit> Lease::Take() {
  if (impl_ == nullptr) return absl::FailedPreconditionError("this lease was moved away");
  if (getpid() != impl_->process) return OfAnotherProcess();
  absl::MutexLock lock(&impl_->mutex);
  if (impl_->ended) {
    return absl::FailedPreconditionError(
        absl::StrCat(impl_->name, " is settled: acquire another lease"));
  }
  if (impl_->used_count >= impl_->granted_count) {
    return absl::OutOfRangeError(absl::StrCat("all ", impl_->granted_count, " steps of ",
                                              impl_->name, " are taken: acquire another lease"));
  }
  ++impl_->used_count;
  return Permit(impl_->charge_name, impl_->sequence, impl_->mechanism, 1);
}

absl::Status Lease::Settle() {
  if (impl_ == nullptr) return absl::FailedPreconditionError("this lease was moved away");
  if (getpid() != impl_->process) return OfAnotherProcess();
  v1::SettleLeaseRequest request;
  {
    absl::MutexLock lock(&impl_->mutex);
    impl_->ended = true;
    if (impl_->settled) return absl::OkStatus();
    request = SettleRequest(impl_->name, impl_->used_count);
  }
  ASSIGN_OR_RETURN(
      const v1::Lease settled,
      impl_->connection->Call(impl_->connection->charges(),
                              &v1::ChargeService::StubInterface::SettleLease, request));
  if (settled.name() != request.name() || !settled.settled() ||
      settled.used_count() != request.used_count()) {
    return absl::InternalError(absl::StrCat("the server's answer is not one to settling ",
                                            request.name(), ": ", settled.ShortDebugString()));
  }
  absl::MutexLock lock(&impl_->mutex);
  impl_->settled = true;
  return absl::OkStatus();
}

const std::string& Lease::name() const {
  static const std::string& nameless = *new std::string;
  return impl_ == nullptr ? nameless : impl_->name;
}

const Mechanism& Lease::mechanism() const { return impl_->mechanism; }

int64_t Lease::granted_count() const { return impl_ == nullptr ? 0 : impl_->granted_count; }

int64_t Lease::used_count() const {
  if (impl_ == nullptr) return 0;
  absl::MutexLock lock(&impl_->mutex);
  return impl_->used_count;
}

}  // namespace epsledger
