#include "tests/client/cpp/fake_ledger.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace epsledger {
namespace {

using grpc::Status;
using grpc::StatusCode;

template <class... Details>
Status WithDetails(StatusCode code, const std::string& message, const Details&... details) {
  google::rpc::Status status;
  status.set_code(static_cast<int>(code));
  status.set_message(message);
  (status.add_details()->PackFrom(details), ...);
  return Status(code, message, status.SerializeAsString());
}

Status Refused(const v1::Charge& charge, StatusCode code) {
  google::rpc::ErrorInfo info;
  info.set_reason(v1::Refusal::Reason_Name(charge.refusal().reason()));
  info.set_domain("epsledger.dev");
  return WithDetails(code, "refused: " + info.reason(), info, charge);
}

Status NotFound(const std::string& name) {
  return Status(StatusCode::NOT_FOUND, name + " does not exist");
}

}  // namespace

FakeLedger::FakeLedger() {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(static_cast<v1::BudgetService::Service*>(this));
  builder.RegisterService(static_cast<v1::SessionService::Service*>(this));
  builder.RegisterService(static_cast<v1::ChargeService::Service*>(this));
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
}

FakeLedger::~FakeLedger() {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(5));
}

void FakeLedger::Script(std::vector<Fault> faults) {
  const std::lock_guard lock(mutex_);
  faults_.assign(faults.begin(), faults.end());
}

void FakeLedger::set_capacity(int64_t uses) {
  const std::lock_guard lock(mutex_);
  capacity_ = uses;
}

void FakeLedger::set_attempt_name(const std::string& name) {
  const std::lock_guard lock(mutex_);
  attempt_name_ = name;
}

std::vector<v1::ChargeRequest> FakeLedger::charge_requests() const {
  const std::lock_guard lock(mutex_);
  return charge_requests_;
}

std::vector<v1::CreateBudgetRequest> FakeLedger::budget_requests() const {
  const std::lock_guard lock(mutex_);
  return budget_requests_;
}

std::vector<v1::CreateSessionRequest> FakeLedger::session_requests() const {
  const std::lock_guard lock(mutex_);
  return session_requests_;
}

std::vector<v1::SettleLeaseRequest> FakeLedger::settle_requests() const {
  const std::lock_guard lock(mutex_);
  return settle_requests_;
}

std::optional<v1::Charge> FakeLedger::FindCharge(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = charges_.find(name);
  if (found == charges_.end()) return std::nullopt;
  return found->second;
}

int64_t FakeLedger::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

Status FakeLedger::CreateBudget(Context*, const v1::CreateBudgetRequest* request,
                                v1::Budget* budget) {
  const std::lock_guard lock(mutex_);
  budget_requests_.push_back(*request);
  if (!request->budget().has_cap()) {
    return Status(StatusCode::INVALID_ARGUMENT, "budget.cap: not set, want one currency");
  }
  *budget = request->budget();
  budget->set_name("budgets/" + request->budget_id());
  budget->set_state(v1::Budget::ACTIVE);
  v1::CellBalance* cell = budget->add_cells();
  cell->set_quantity(v1::CellBalance::RENYI_DIVERGENCE);
  cell->set_order(16);
  cell->set_cap(0.25);
  cell->set_spent(1.0 / 3);
  cell->set_remaining(2.0 / 3);
  budget->set_theorem("Feldman and Zrnic 2021");
  budgets_[budget->name()] = *budget;
  return Status::OK;
}

Status FakeLedger::GetBudget(Context*, const v1::GetBudgetRequest* request, v1::Budget* budget) {
  const std::lock_guard lock(mutex_);
  const auto found = budgets_.find(request->name());
  if (found == budgets_.end()) return NotFound(request->name());
  *budget = found->second;
  return Status::OK;
}

Status FakeLedger::ListBudgets(Context*, const v1::ListBudgetsRequest* request,
                               v1::ListBudgetsResponse* response) {
  const std::lock_guard lock(mutex_);
  // One a page, whatever page size is asked for: a client must follow the tokens.
  auto next = budgets_.upper_bound(request->page_token());
  if (next == budgets_.end()) return Status::OK;
  *response->add_budgets() = next->second;
  const std::string name = next->first;
  if (++next != budgets_.end()) response->set_next_page_token(name);
  return Status::OK;
}

Status FakeLedger::CreateSession(Context*, const v1::CreateSessionRequest* request,
                                 v1::Session* session) {
  const std::lock_guard lock(mutex_);
  session_requests_.push_back(*request);
  int64_t planned = 0;
  for (const v1::CountedEvent& event : request->session().plan().events()) planned += event.count();
  if (spent_ + planned > capacity_) {
    return WithDetails(StatusCode::FAILED_PRECONDITION, "the plan was refused",
                       MakeRefusal(v1::Refusal::BUDGET_EXHAUSTED, planned));
  }
  const std::string name = request->parent() + "/sessions/" + request->session_id();
  // Creating it again returns it as it is now, so that no attempt number is given out twice.
  const auto [created, is_new] = sessions_.try_emplace(name, request->session());
  if (is_new) {
    created->second.set_name(name);
    created->second.set_state(v1::Session::ACTIVE);
  }
  *session = created->second;
  return Status::OK;
}

Status FakeLedger::GetSession(Context*, const v1::GetSessionRequest* request,
                              v1::Session* session) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(request->name());
  if (found == sessions_.end()) return NotFound(request->name());
  *session = found->second;
  return Status::OK;
}

Status FakeLedger::ListSessions(Context*, const v1::ListSessionsRequest*,
                                v1::ListSessionsResponse* response) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, session] : sessions_) *response->add_sessions() = session;
  return Status::OK;
}

Status FakeLedger::OpenAttempt(Context*, const v1::OpenAttemptRequest* request,
                               v1::Attempt* attempt) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(request->session());
  if (found == sessions_.end()) return NotFound(request->session());
  found->second.set_current_attempt(found->second.current_attempt() + 1);
  attempt->set_number(found->second.current_attempt());
  attempt->set_name(!attempt_name_.empty()
                        ? attempt_name_
                        : request->session() + "/attempts/" + std::to_string(attempt->number()));
  return Status::OK;
}

Status FakeLedger::GetSessionGuarantees(Context*, const v1::GetSessionGuaranteesRequest* request,
                                        v1::GetSessionGuaranteesResponse* response) {
  const std::lock_guard lock(mutex_);
  if (!sessions_.contains(request->name())) return NotFound(request->name());
  v1::AccountantReading* renyi = response->add_readings();
  renyi->set_accountant(v1::Accountant::RENYI);
  renyi->mutable_guarantee()->set_kind(v1::Guarantee::UPPER_BOUND);
  renyi->mutable_guarantee()->set_accountant(v1::Accountant::RENYI);
  renyi->mutable_guarantee()->set_upper(0.1234561);
  renyi->mutable_guarantee()->set_theorem("Mironov 2017");
  v1::AccountantReading* pld = response->add_readings();
  pld->set_accountant(v1::Accountant::PLD);
  pld->set_reason_unavailable("not in this version");
  response->set_sequence(sequence_);
  return Status::OK;
}

v1::Refusal FakeLedger::MakeRefusal(v1::Refusal::Reason reason, int64_t requested) const {
  v1::Refusal refusal;
  refusal.set_reason(reason);
  refusal.set_limiting_resource("budgets/adult");
  v1::CellBalance* cell = refusal.mutable_cell();
  cell->set_quantity(v1::CellBalance::RENYI_DIVERGENCE);
  cell->set_order(16);
  cell->set_cap(static_cast<double>(capacity_));
  cell->set_spent(static_cast<double>(spent_));
  cell->set_remaining(static_cast<double>(capacity_ - spent_));
  refusal.set_requested(static_cast<double>(requested));
  refusal.set_steps_that_fit(std::max<int64_t>(capacity_ - spent_, 0));
  return refusal;
}

const v1::Charge& FakeLedger::Decide(const v1::ChargeRequest& request) {
  const std::string name = request.attempt() + "/charges/" + request.charge_id();
  if (const auto stored = charges_.find(name); stored != charges_.end()) return stored->second;
  v1::Charge charge;
  charge.set_name(name);
  *charge.mutable_event() = request.event();
  charge.set_count(request.count());
  charge.set_sequence(++sequence_);
  if (spent_ + request.count() <= capacity_) {
    charge.set_decision(v1::Charge::ACCEPTED);
    spent_ += request.count();
  } else {
    charge.set_decision(v1::Charge::REFUSED);
    *charge.mutable_refusal() = MakeRefusal(v1::Refusal::BUDGET_EXHAUSTED, request.count());
  }
  charge_order_.push_back(name);
  return charges_[name] = charge;
}

Fault FakeLedger::TakeFault() {
  if (faults_.empty()) return Fault::kNone;
  const Fault fault = faults_.front();
  faults_.pop_front();
  return fault;
}

Status FakeLedger::AcquireLease(Context*, const v1::AcquireLeaseRequest* request,
                                v1::Lease* lease) {
  const std::lock_guard lock(mutex_);
  v1::ChargeRequest asked;
  asked.set_attempt(request->attempt());
  asked.set_charge_id(request->lease_id());
  *asked.mutable_event() = request->event();
  asked.set_count(request->count());
  const v1::Charge& charge = Decide(asked);
  if (charge.decision() == v1::Charge::REFUSED) {
    return Refused(charge, StatusCode::FAILED_PRECONDITION);
  }
  lease->set_name(request->attempt() + "/leases/" + request->lease_id());
  *lease->mutable_event() = request->event();
  lease->set_granted_count(request->count());
  lease->set_sequence(charge.sequence());
  leases_.try_emplace(lease->name(), *lease);
  return Status::OK;
}

Status FakeLedger::SettleLease(Context*, const v1::SettleLeaseRequest* request,
                               v1::Lease* response) {
  const std::lock_guard lock(mutex_);
  settle_requests_.push_back(*request);
  const Fault fault = TakeFault();
  if (fault == Fault::kUnavailable) return Status(StatusCode::UNAVAILABLE, "scripted");
  const auto found = leases_.find(request->name());
  if (found == leases_.end()) return NotFound(request->name());
  v1::Lease& lease = found->second;
  if (lease.settled() && lease.used_count() != request->used_count()) {
    return Status(StatusCode::ALREADY_EXISTS, "settled with another count");
  }
  lease.set_settled(true);
  lease.set_used_count(request->used_count());
  lease.set_wasted_count(lease.granted_count() - request->used_count());
  if (fault == Fault::kCommitThenUnavailable) return Status(StatusCode::UNAVAILABLE, "scripted");
  *response = lease;
  return Status::OK;
}

Status FakeLedger::Charge(Context*, const v1::ChargeRequest* request, v1::Charge* response) {
  const std::lock_guard lock(mutex_);
  charge_requests_.push_back(*request);
  const Fault fault = TakeFault();
  // These fail before anything is written.
  switch (fault) {
    case Fault::kUnavailable:
      return Status(StatusCode::UNAVAILABLE, "scripted");
    case Fault::kUnavailableWithRetryInfo: {
      google::rpc::RetryInfo info;
      info.mutable_retry_delay()->set_seconds(5);
      return WithDetails(StatusCode::UNAVAILABLE, "scripted", info);
    }
    case Fault::kPermissionDenied:
      return Status(StatusCode::PERMISSION_DENIED, "scripted");
    case Fault::kRefusalWithoutDetails:
      return Status(StatusCode::FAILED_PRECONDITION, "scripted");
    case Fault::kFenced: {
      v1::Charge charge;
      charge.set_name(request->attempt() + "/charges/" + request->charge_id());
      charge.set_decision(v1::Charge::REFUSED);
      charge.mutable_refusal()->set_reason(v1::Refusal::ATTEMPT_FENCED);
      return Refused(charge, StatusCode::ABORTED);
    }
    default:
      break;
  }
  v1::Charge charge = Decide(*request);
  switch (fault) {
    case Fault::kCommitThenUnavailable:
      return Status(StatusCode::UNAVAILABLE, "scripted");
    case Fault::kCommitThenDeadlineExceeded:
      return Status(StatusCode::DEADLINE_EXCEEDED, "scripted");
    case Fault::kCommitThenCancelled:
      return Status(StatusCode::CANCELLED, "scripted");
    case Fault::kCommitThenUnknown:
      return Status(StatusCode::UNKNOWN, "scripted");
    case Fault::kCommitThenInternal:
      return Status(StatusCode::INTERNAL, "scripted");
    case Fault::kWrongName:
      charge.set_name(request->attempt() + "/charges/another");
      break;
    case Fault::kUnspecifiedDecision:
      charge.clear_decision();
      break;
    case Fault::kRefusedWithOk:
      charge.set_decision(v1::Charge::REFUSED);
      *response = charge;
      return Status::OK;
    case Fault::kWrongCount:
      charge.set_count(request->count() + 1);
      break;
    case Fault::kWrongEvent:
      charge.mutable_event()->mutable_laplace()->set_noise_multiplier(1);
      break;
    case Fault::kNoSequence:
      charge.clear_sequence();
      break;
    case Fault::kRefusalOfAnotherKey:
      charge.set_name(request->attempt() + "/charges/another");
      charge.set_decision(v1::Charge::REFUSED);
      *charge.mutable_refusal() = MakeRefusal(v1::Refusal::BUDGET_EXHAUSTED, request->count());
      break;
    default:
      break;
  }
  if (charge.decision() == v1::Charge::REFUSED) {
    return Refused(charge, StatusCode::FAILED_PRECONDITION);
  }
  *response = charge;
  return Status::OK;
}

Status FakeLedger::PreviewCharge(Context*, const v1::PreviewChargeRequest* request,
                                 v1::PreviewChargeResponse* response) {
  const std::lock_guard lock(mutex_);
  if (request->session().empty() ? !budgets_.contains(request->budget())
                                 : !sessions_.contains(request->session())) {
    return NotFound(request->session() + request->budget());
  }
  const int64_t fit = std::max<int64_t>(capacity_ - spent_, 0);
  response->set_steps_that_fit(fit);
  if (request->count() <= fit) {
    response->set_decision(v1::Charge::ACCEPTED);
  } else {
    response->set_decision(v1::Charge::REFUSED);
    *response->mutable_refusal() = MakeRefusal(v1::Refusal::BUDGET_EXHAUSTED, request->count());
  }
  return Status::OK;
}

Status FakeLedger::GetCharge(Context*, const v1::GetChargeRequest* request, v1::Charge* charge) {
  const std::lock_guard lock(mutex_);
  const auto found = charges_.find(request->name());
  if (found == charges_.end()) return NotFound(request->name());
  *charge = found->second;
  return Status::OK;
}

Status FakeLedger::ListCharges(Context*, const v1::ListChargesRequest* request,
                               v1::ListChargesResponse* response) {
  const std::lock_guard lock(mutex_);
  if (!sessions_.contains(request->parent())) return NotFound(request->parent());
  for (const std::string& name : charge_order_) *response->add_charges() = charges_[name];
  return Status::OK;
}

}  // namespace epsledger
