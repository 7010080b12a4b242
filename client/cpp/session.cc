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
#include "client/cpp/budget_message.h"
#include "client/cpp/charging.h"
#include "client/cpp/mechanism_message.h"
#include "client/cpp/refusal_message.h"
#include "client/cpp/session_impl.h"
#include "epsledger/v1/guarantee.pb.h"

namespace epsledger {
namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 53;

absl::Status ValidateCount(std::int64_t count) {
  if (count >= 1 && count <= kMaxCount) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("count: got ", count, ", want in [1, 2^53]"));
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

absl::StatusOr<Permit> Session::Charge(const Mechanism& mechanism, std::int64_t count) {
  std::string charge_id;
  {
    absl::MutexLock lock(&impl_->mutex);
    charge_id = absl::StrCat("step-", ++impl_->last_step);
  }
  return ChargeWithId(charge_id, mechanism, count);
}

absl::StatusOr<Permit> Session::RetryCharge(const std::string& charge_id) {
  std::vector<Impl::UnknownOutcome> found;
  {
    // Taken out while it is asked for, so that two callers never get a permit each.
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
      ChargeWithId(found[0].charge_id, found[0].mechanism, found[0].count);
  if (!permit.ok() && !RefusalOf(permit.status()).has_value() &&
      !UnknownCharge(permit.status()).has_value()) {
    // No try of this round reached a decision, and one of a round before may have committed.
    absl::MutexLock lock(&impl_->mutex);
    impl_->unknown.push_back(std::move(found[0]));
    return OutcomeUnknown(permit.status(), charge_id, "asked again");
  }
  return permit;
}

absl::StatusOr<Permit> Session::ChargeWithId(const std::string& charge_id,
                                             const Mechanism& mechanism, std::int64_t count) {
  if (absl::Status valid = ValidateCount(count); !valid.ok()) return valid;
  if (getpid() != impl_->process) {
    return absl::FailedPreconditionError(
        "this session was opened before a fork: open a session of this process's own");
  }
  v1::ChargeRequest request;
  request.set_attempt(impl_->attempt_name);
  request.set_charge_id(charge_id);
  *request.mutable_event() = MechanismMessage::Of(mechanism);
  request.set_count(count);
  absl::StatusOr<v1::Charge> charge = ChargeUntilDefinite(*impl_->connection, request);
  if (!charge.ok()) {
    if (UnknownCharge(charge.status()).has_value()) {
      absl::MutexLock lock(&impl_->mutex);
      impl_->unknown.push_back({charge_id, mechanism, count});
    }
    return charge.status();
  }
  return Permit(charge->name(), charge->sequence(), mechanism, charge->count());
}

std::vector<std::string> Session::unknown_charges() const {
  std::vector<std::string> ids;
  absl::MutexLock lock(&impl_->mutex);
  for (const Impl::UnknownOutcome& charge : impl_->unknown) ids.push_back(charge.charge_id);
  return ids;
}

absl::StatusOr<ChargePreview> Session::Preview(const Mechanism& mechanism,
                                               std::int64_t count) const {
  if (absl::Status valid = ValidateCount(count); !valid.ok()) return valid;
  v1::PreviewChargeRequest request;
  request.set_session(impl_->name);
  *request.mutable_event() = MechanismMessage::Of(mechanism);
  request.set_count(count);
  absl::StatusOr<v1::PreviewChargeResponse> response = impl_->connection->Call(
      impl_->connection->charges(), &v1::ChargeService::StubInterface::PreviewCharge, request);
  if (!response.ok()) return response.status();
  ChargePreview preview;
  preview.accepted = response->decision() == v1::Charge::ACCEPTED;
  if (!preview.accepted) preview.refusal = epsledger::FromMessage(response->refusal(), "");
  preview.steps_that_fit = response->steps_that_fit();
  return preview;
}

absl::StatusOr<SessionGuarantees> Session::Guarantees(double delta) const {
  v1::GetSessionGuaranteesRequest request;
  request.set_name(impl_->name);
  request.set_delta(delta);
  absl::StatusOr<v1::GetSessionGuaranteesResponse> response =
      impl_->connection->Call(impl_->connection->sessions(),
                              &v1::SessionService::StubInterface::GetSessionGuarantees, request);
  if (!response.ok()) return response.status();
  SessionGuarantees guarantees;
  guarantees.delta = delta;
  guarantees.sequence = response->sequence();
  for (const v1::AccountantReading& reading : response->readings()) {
    guarantees.readings.push_back(FromMessage(reading));
  }
  return guarantees;
}

absl::StatusOr<std::vector<CellBalance>> Session::OwnCells() const {
  v1::GetSessionRequest request;
  request.set_name(impl_->name);
  absl::StatusOr<v1::Session> session = impl_->connection->Call(
      impl_->connection->sessions(), &v1::SessionService::StubInterface::GetSession, request);
  if (!session.ok()) return session.status();
  std::vector<CellBalance> cells;
  for (const v1::CellBalance& cell : session->cells()) {
    cells.push_back(epsledger::FromMessage(cell));
  }
  return cells;
}

}  // namespace epsledger
