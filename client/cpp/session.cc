#include "epsledger/session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cpp/budget_message.h"
#include "client/cpp/charging.h"
#include "client/cpp/lease_impl.h"
#include "client/cpp/mechanism_message.h"
#include "client/cpp/preview.h"
#include "client/cpp/rpc_status.h"
#include "client/cpp/session_impl.h"
#include "epsledger/v1/guarantee.pb.h"

namespace epsledger {
namespace {

constexpr size_t kMaxBatchItems = 1'000;

absl::Status CheckProcess(pid_t process) {
  if (getpid() == process) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this session was opened before a fork: open a session of this process's own");
}

AccountantReading FromMessage(const v1::AccountantReading& message) {
  AccountantReading reading;
  reading.accountant = v1::Accountant::Kind_Name(message.accountant());
  reading.reason_unavailable = message.reason_unavailable();
  if (!message.has_guarantee()) return reading;
  const v1::Guarantee& guarantee = message.guarantee();
  if (guarantee.has_upper()) reading.upper = guarantee.upper();
  if (guarantee.has_lower()) reading.lower = guarantee.lower();
  if (v1::Guarantee::Kind_IsValid(guarantee.kind())) {
    reading.kind = static_cast<GuaranteeKind>(guarantee.kind());
  }
  reading.theorem = guarantee.theorem();
  reading.contains_unverified_claim = guarantee.contains_unverified_claim();
  reading.answered_by = v1::Accountant::Kind_Name(guarantee.accountant());
  return reading;
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

const std::string& Session::name() const { return impl_->name; }
const std::string& Session::attempt_name() const { return impl_->attempt_name; }

absl::StatusOr<Permit> Session::Charge(const Mechanism& mechanism, int64_t count) {
  std::string charge_id;
  {
    absl::MutexLock lock(&impl_->mutex);
    charge_id = absl::StrCat("step-", ++impl_->last_step);
  }
  return ChargeWithId(charge_id, mechanism, count, /*is_new=*/true);
}

absl::StatusOr<Permit> Session::RetryCharge(const std::string& charge_id) {
  std::vector<Impl::UnknownOutcome> found;
  {
    // The charge is taken out during the call, so that two callers never get a permit each.
    absl::MutexLock lock(&impl_->mutex);
    const auto at = std::find_if(impl_->unknown.begin(), impl_->unknown.end(),
                                 [&](const auto& charge) { return charge.charge_id == charge_id; });
    if (at != impl_->unknown.end()) {
      found.push_back(std::move(*at));
      impl_->unknown.erase(at);
    }
  }
  if (found.empty()) {
    return absl::NotFoundError(
        absl::StrCat("charge_id: got ", charge_id, ", want one of unknown_charges()"));
  }
  absl::StatusOr<Permit> permit =
      ChargeWithId(found[0].charge_id, found[0].mechanism, found[0].count, /*is_new=*/false);
  if (!permit.ok() && !RefusalOf(permit.status()).has_value() &&
      !UnknownCharge(permit.status()).has_value()) {
    // No try of this round reached a decision, and one of an earlier round may have committed.
    absl::MutexLock lock(&impl_->mutex);
    impl_->unknown.push_back(std::move(found[0]));
    return OutcomeUnknown(permit.status(), charge_id, "asked again");
  }
  return permit;
}

absl::StatusOr<Permit> Session::ChargeWithId(const std::string& charge_id,
                                             const Mechanism& mechanism, int64_t count,
                                             bool is_new) {
  RETURN_IF_ERROR(ValidateCount(count));
  RETURN_IF_ERROR(CheckProcess(impl_->process));
  v1::ChargeRequest request;
  request.set_attempt(impl_->attempt_name);
  request.set_charge_id(charge_id);
  *request.mutable_event() = MechanismMessage::Of(mechanism);
  request.set_count(count);
  impl_->seen_heads->AddTo(request, impl_->name);
  return impl_->PermitOf(charge_id, {mechanism, count},
                         ChargeUntilDefinite(*impl_->connection, request),
                         is_new ? request.last_seen_head().sequence() : 0);
}

absl::StatusOr<Permit> Session::Impl::PermitOf(const std::string& charge_id,
                                               const CountedMechanism& item,
                                               absl::StatusOr<v1::Charge> charge, int64_t sent) {
  if (charge.ok()) {
    const std::string wrong =
        seen_heads->Contradiction(name, charge->sequence(), charge->hash(), sent);
    if (!wrong.empty()) {
      charge = OutcomeUnknown(absl::DataLossError(wrong), charge_id, "answered");
    }
  }
  if (charge.ok()) {
    seen_heads->Remember(name, charge->sequence(), charge->hash(), charge->head_tag());
    return Permit(charge->name(), charge->sequence(), item.mechanism, item.count);
  }
  if (UnknownCharge(charge.status()).has_value()) {
    absl::MutexLock lock(&mutex);
    unknown.push_back({charge_id, item.mechanism, item.count});
  }
  return charge.status();
}

absl::StatusOr<std::vector<absl::StatusOr<Permit>>> Session::ChargeBatch(
    const std::vector<CountedMechanism>& items, BatchMode mode) {
  if (items.empty() || items.size() > kMaxBatchItems) {
    return absl::InvalidArgumentError(
        absl::StrCat("items: got ", items.size(), ", want 1 to ", kMaxBatchItems));
  }
  RETURN_IF_ERROR(CheckProcess(impl_->process));
  v1::BatchChargeRequest request;
  request.set_attempt(impl_->attempt_name);
  request.set_mode(static_cast<v1::BatchChargeRequest::Mode>(mode));  // the same numbers
  for (const CountedMechanism& item : items) {
    RETURN_IF_ERROR(ValidateCount(item.count));
    v1::BatchChargeItem* message = request.add_items();
    *message->mutable_event() = MechanismMessage::Of(item.mechanism);
    message->set_count(item.count);
    absl::MutexLock lock(&impl_->mutex);
    message->set_charge_id(absl::StrCat("step-", ++impl_->last_step));
  }
  impl_->seen_heads->AddTo(request, impl_->name);
  const auto charges = BatchUntilDefinite(*impl_->connection, request);
  std::vector<absl::StatusOr<Permit>> permits;
  for (size_t i = 0; i < items.size(); ++i) {
    permits.push_back(impl_->PermitOf(request.items(static_cast<int>(i)).charge_id(), items[i],
                                      charges.ok() ? (*charges)[i] : charges.status(),
                                      request.last_seen_head().sequence()));
  }
  if (!charges.ok()) return charges.status();
  return permits;
}

absl::StatusOr<Lease> Session::AcquireLease(const Mechanism& mechanism, int64_t count,
                                            std::chrono::seconds time_to_live) {
  RETURN_IF_ERROR(ValidateCount(count));
  RETURN_IF_ERROR(CheckProcess(impl_->process));
  v1::AcquireLeaseRequest request;
  request.set_attempt(impl_->attempt_name);
  {
    absl::MutexLock lock(&impl_->mutex);
    request.set_lease_id(absl::StrCat("lease-", ++impl_->last_lease));
  }
  *request.mutable_event() = MechanismMessage::Of(mechanism);
  request.set_count(count);
  request.mutable_time_to_live()->set_seconds(time_to_live.count());
  impl_->seen_heads->AddTo(request, impl_->name);
  ASSIGN_OR_RETURN(const v1::Lease lease, LeaseUntilDefinite(*impl_->connection, request));
  const std::string wrong = impl_->seen_heads->Contradiction(
      impl_->name, lease.sequence(), lease.hash(), request.last_seen_head().sequence());
  if (!wrong.empty()) {
    return OutcomeUnknown(absl::DataLossError(wrong), request.lease_id(), "answered");
  }
  impl_->seen_heads->Remember(impl_->name, lease.sequence(), lease.hash(), lease.head_tag());
  return Lease(std::unique_ptr<Lease::Impl>(new Lease::Impl{
      .connection = impl_->connection,
      .name = lease.name(),
      .charge_name = absl::StrCat(impl_->attempt_name, "/charges/", request.lease_id()),
      .sequence = lease.sequence(),
      .mechanism = mechanism,
      .granted_count = lease.granted_count(),
      .process = impl_->process}));
}

std::vector<std::string> Session::unknown_charges() const {
  std::vector<std::string> ids;
  absl::MutexLock lock(&impl_->mutex);
  for (const Impl::UnknownOutcome& charge : impl_->unknown) ids.push_back(charge.charge_id);
  return ids;
}

absl::StatusOr<ChargePreview> Session::Preview(const Mechanism& mechanism, int64_t count) const {
  v1::PreviewChargeRequest request;
  request.set_session(impl_->name);
  return PreviewOf(*impl_->connection, std::move(request), mechanism, count);
}

absl::StatusOr<SessionGuarantees> Session::Guarantees(double delta) const {
  v1::GetSessionGuaranteesRequest request;
  request.set_name(impl_->name);
  request.set_delta(delta);
  ASSIGN_OR_RETURN(
      v1::GetSessionGuaranteesResponse response,
      impl_->connection->Call(impl_->connection->sessions(),
                              &v1::SessionService::StubInterface::GetSessionGuarantees, request));
  SessionGuarantees guarantees;
  guarantees.delta = delta;
  guarantees.sequence = response.sequence();
  for (const v1::AccountantReading& reading : response.readings()) {
    guarantees.readings.push_back(FromMessage(reading));
  }
  return guarantees;
}

absl::Status Session::RecordAudit(const AuditResult& audit) {
  v1::RecordAuditRequest request;
  request.set_session(impl_->name);
  v1::SessionAudit* message = request.mutable_audit();
  message->set_method(static_cast<v1::AuditCanariesRequest::Method>(audit.method));
  message->set_hypothesis(audit.if_gaussian_trade_off
                              ? v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF
                              : v1::AuditCanariesResponse::NONE);
  message->set_epsilon_lower_bound(audit.epsilon_lower_bound);
  message->set_delta(audit.delta);
  message->set_confidence(audit.confidence);
  message->set_trials(audit.trials);
  if (audit.mu_lower_bound) message->set_mu_lower_bound(*audit.mu_lower_bound);
  if (audit.claimed_epsilon) message->set_claimed_epsilon(*audit.claimed_epsilon);
  message->set_source(audit.source);
  return impl_->connection
      ->Call(impl_->connection->sessions(), &v1::SessionService::StubInterface::RecordAudit,
             request)
      .status();
}

absl::StatusOr<std::vector<CellBalance>> Session::OwnCells() const {
  v1::GetSessionRequest request;
  request.set_name(impl_->name);
  ASSIGN_OR_RETURN(
      v1::Session session,
      impl_->connection->Call(impl_->connection->sessions(),
                              &v1::SessionService::StubInterface::GetSession, request));
  std::vector<CellBalance> cells;
  for (const v1::CellBalance& cell : session.cells()) {
    cells.push_back(epsledger::FromMessage(cell));
  }
  return cells;
}

}  // namespace epsledger
