#include "epsledger/client.h"

#include <unistd.h>

#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cpp/budget_message.h"
#include "client/cpp/connection.h"
#include "client/cpp/mechanism_message.h"
#include "client/cpp/preview.h"
#include "client/cpp/session_impl.h"
#include "client/cpp/watch_changes.h"
#include "client/cpp/watch_impl.h"

namespace epsledger {
namespace {

v1::CreateSessionRequest CreateRequest(const SessionOptions& options) {
  const NewSession& create = *options.create;
  v1::CreateSessionRequest request;
  request.set_parent(BudgetName(options.budget));
  request.set_session_id(options.session);
  v1::Session* session = request.mutable_session();
  session->set_mode(create.plan.has_value() ? v1::Session::DECLARED : v1::Session::ADAPTIVE);
  session->set_neighboring_relation(ToMessage(create.neighboring_relation));
  if (!std::holds_alternative<std::monostate>(create.own_cap)) {
    *session->mutable_own_cap() = ToMessage(create.own_cap);
  }
  session->set_no_own_cap(create.no_own_cap);
  if (create.plan.has_value()) {
    for (const CountedMechanism& planned : create.plan->events) {
      v1::CountedEvent* event = session->mutable_plan()->add_events();
      *event->mutable_event() = MechanismMessage::Of(planned.mechanism);
      event->set_count(planned.count);
    }
    session->set_plan_delta(create.plan->delta);
  }
  session->set_display_name(create.display_name);
  session->set_group(create.group);
  for (const auto& [key, value] : create.labels) (*session->mutable_labels())[key] = value;
  if (create.claim.has_value()) {
    v1::Claim* claim = session->mutable_claim();
    claim->set_status(static_cast<v1::Claim::Status>(create.claim->status));  // the same numbers
    claim->set_epsilon(create.claim->epsilon);
    claim->set_delta(create.claim->delta);
    claim->set_source(create.claim->source);
  }
  if (create.expects.has_value()) {
    *request.mutable_expects() = MechanismMessage::Of(*create.expects);
  }
  return request;
}

v1::Provenance ToMessage(const Provenance& provenance) {
  v1::Provenance message;
  message.set_sampler(static_cast<v1::Provenance::Sampler>(provenance.sampler));
  message.set_clip_norm(provenance.clip_norm);
  message.set_library(provenance.library);
  message.set_library_version(provenance.library_version);
  message.set_normalizer(static_cast<v1::Provenance::Normalizer>(provenance.normalizer));
  return message;
}

absl::Status ValidateAttempt(const std::string& session_name, const v1::Attempt& attempt) {
  const std::string want = absl::StrCat(session_name, "/attempts/", attempt.number());
  if (attempt.number() >= 1 && attempt.name() == want) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the server opened the attempt \"", attempt.name(),
                                          "\" number ", attempt.number(), " of ", session_name,
                                          ": these do not fit together"));
}

LedgerChange FromMessage(const v1::LedgerChange& message) {
  LedgerChange change;
  change.sequence = message.sequence();
  switch (message.change_case()) {
    case v1::LedgerChange::kBudget:
      change.kind = ChangeKind::kBudget;
      break;
    case v1::LedgerChange::kSession:
      change.kind = ChangeKind::kSession;
      break;
    case v1::LedgerChange::kAttempt:
      change.kind = ChangeKind::kAttempt;
      break;
    case v1::LedgerChange::kCharge:
      change.kind = ChangeKind::kCharge;
      break;
    case v1::LedgerChange::kLease:
      change.kind = ChangeKind::kLease;
      break;
    case v1::LedgerChange::kRefusedSession:
      change.kind = ChangeKind::kRefusedSession;
      break;
    case v1::LedgerChange::CHANGE_NOT_SET:
      break;
  }
  change.name = NameOf(message);
  // Cannot fail: the message was parsed from an answer.
  (void)google::protobuf::util::MessageToJsonString(message, &change.json);
  return change;
}

}  // namespace

struct Client::Impl {
  std::shared_ptr<Connection> connection;
  std::shared_ptr<SeenHeads> seen_heads = std::make_shared<SeenHeads>();
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

absl::StatusOr<Client> Client::Connect(const ClientOptions& options) {
  ASSIGN_OR_RETURN(std::shared_ptr<Connection> connection, Connection::Open(options));
  auto impl = std::make_unique<Impl>();
  impl->connection = std::move(connection);
  return Client(std::move(impl));
}

absl::StatusOr<Budget> Client::CreateBudget(const BudgetOptions& options) {
  ASSIGN_OR_RETURN(
      v1::Budget budget,
      impl_->connection->Call(impl_->connection->budgets(),
                              &v1::BudgetService::StubInterface::CreateBudget, ToMessage(options)));
  return FromMessage(budget);
}

absl::StatusOr<Budget> Client::GetBudget(const std::string& name) {
  v1::GetBudgetRequest request;
  request.set_name(BudgetName(name));
  ASSIGN_OR_RETURN(v1::Budget budget,
                   impl_->connection->Call(impl_->connection->budgets(),
                                           &v1::BudgetService::StubInterface::GetBudget, request));
  return FromMessage(budget);
}

absl::StatusOr<Session> Client::OpenSession(const SessionOptions& options) {
  Connection& connection = *impl_->connection;
  const std::string name = absl::StrCat(BudgetName(options.budget), "/sessions/", options.session);
  if (options.create.has_value()) {
    ASSIGN_OR_RETURN(
        v1::Session created,
        connection.Call(connection.sessions(), &v1::SessionService::StubInterface::CreateSession,
                        CreateRequest(options)));
    if (created.name() != name) {
      return absl::InternalError(
          absl::StrCat("the server created \"", created.name(), "\", want ", name));
    }
  }
  v1::OpenAttemptRequest request;
  request.set_session(name);
  request.set_client_description(options.client_description);
  *request.mutable_provenance() = ToMessage(options.provenance);
  impl_->seen_heads->AddTo(request, name);
  ASSIGN_OR_RETURN(v1::Attempt attempt,
                   connection.Call(connection.sessions(),
                                   &v1::SessionService::StubInterface::OpenAttempt, request));
  RETURN_IF_ERROR(ValidateAttempt(name, attempt));
  const std::string wrong = impl_->seen_heads->Contradiction(
      name, attempt.sequence(), attempt.hash(), request.last_seen_head().sequence());
  if (!wrong.empty()) return absl::DataLossError(wrong);
  impl_->seen_heads->Remember(name, attempt.sequence(), attempt.hash(), attempt.head_tag());
  auto impl = std::make_unique<Session::Impl>();
  impl->connection = impl_->connection;
  impl->seen_heads = impl_->seen_heads;
  impl->name = name;
  impl->attempt_name = attempt.name();
  impl->process = getpid();
  return Session(std::move(impl));
}

absl::StatusOr<double> Client::CalibrateNoiseMultiplier(const NoiseCalibration& wanted) {
  v1::ComputeRequest request;
  v1::Accountant::Kind accountant = v1::Accountant::KIND_UNSPECIFIED;
  if (!v1::Accountant::Kind_Parse(wanted.accountant, &accountant)) {
    return absl::InvalidArgumentError(absl::StrCat("accountant: got \"", wanted.accountant,
                                                   "\", want a word such as BEST or PLD"));
  }
  request.set_accountant(accountant);
  request.set_neighboring_relation(ToMessage(wanted.relation));
  for (const CountedMechanism& counted : wanted.events) {
    v1::CountedEvent* event = request.add_events();
    *event->mutable_event() = MechanismMessage::Of(counted.mechanism);
    event->set_count(counted.count);
  }
  v1::CalibrateQuery* query = request.mutable_query()->mutable_calibrate();
  query->set_variable(v1::CalibrateQuery::NOISE_MULTIPLIER);
  query->set_epsilon(wanted.epsilon);
  query->set_delta(wanted.delta);
  ASSIGN_OR_RETURN(
      const v1::ComputeResponse answer,
      impl_->connection->Call(impl_->connection->accounting(),
                              &v1::AccountingService::StubInterface::Compute, request));
  if (answer.kind() != v1::Guarantee::UPPER_BOUND || !answer.has_upper() ||
      !(answer.upper() <= wanted.epsilon) || !std::isfinite(answer.value()) ||
      !(answer.value() > 0)) {
    return absl::InternalError(absl::StrCat(
        "the server calibrated to a noise multiplier of ", answer.value(), " with epsilon ",
        answer.upper(), " there, want an upper bound of at most ", wanted.epsilon));
  }
  return answer.value();
}

absl::StatusOr<ChargePreview> Client::Preview(const std::string& budget, const Mechanism& mechanism,
                                              int64_t count) {
  v1::PreviewChargeRequest request;
  request.set_budget(BudgetName(budget));
  request.set_expects_event(true);
  return PreviewOf(*impl_->connection, std::move(request), mechanism, count);
}

Watch Client::WatchBudget(const std::string& name, int64_t after_sequence,
                          ChangeCallback callback) {
  return WatchSession(BudgetName(name), after_sequence, std::move(callback));
}

Watch Client::WatchSession(const std::string& name, int64_t after_sequence,
                           ChangeCallback callback) {
  auto impl = std::make_unique<Watch::Impl>();
  impl->connection = impl_->connection;
  impl->thread =
      std::thread([watch = impl.get(), name, after_sequence, callback = std::move(callback)] {
        watch->end = WatchChanges(*watch->connection, name, after_sequence, watch->canceller,
                                  [&](const v1::LedgerChange& change) {
                                    callback(FromMessage(change));
                                    return !watch->canceller.cancelled();
                                  });
      });
  return Watch(std::move(impl));
}

}  // namespace epsledger
