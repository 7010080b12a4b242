#include "server/core/ledger.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "accounting/question.h"
#include "server/core/charge_decider.h"
#include "server/core/codec.h"
#include "server/core/limits.h"
#include "server/core/sha256.h"

namespace epsledger::core {

Outcome::Outcome() = default;
Outcome::Outcome(const Outcome&) = default;
Outcome::Outcome(Outcome&&) noexcept = default;
Outcome& Outcome::operator=(const Outcome&) = default;
Outcome& Outcome::operator=(Outcome&&) noexcept = default;
Outcome::~Outcome() = default;
namespace {

absl::Status NoSuchSession(const SessionName& name) {
  return absl::NotFoundError(absl::StrFormat("budgets/%s/sessions/%s: there is no such session",
                                             name.budget_id, name.session_id));
}

}  // namespace

bool SessionState::IsBeyondLastChargeId(std::string_view charge_id) const {
  return std::pair(charge_id.size(), charge_id) >
         std::pair(last_charge_id.size(), std::string_view(last_charge_id));
}

int64_t SessionState::TicketsLeft(int64_t index) const {
  return spec.plan[index].count - events[index].accepted_count;
}

std::vector<accounting::CountedEvent> HistoryOf(const SessionState& state) {
  std::vector<accounting::CountedEvent> history;
  for (const SessionEvent& event : state.events) {
    if (event.accepted_count > 0) history.push_back({event.event, event.accepted_count});
  }
  return history;
}

const BudgetState* Ledger::FindBudget(std::string_view budget_id) const {
  const auto it = budgets_.find(budget_id);
  return it == budgets_.end() ? nullptr : &it->second;
}

const SessionState* Ledger::FindSession(const SessionName& name) const {
  const auto it = session_numbers_.find({name.budget_id, name.session_id});
  return it == session_numbers_.end() ? nullptr : FindSession(it->second);
}

const SessionState* Ledger::FindSession(int64_t session_number) const {
  if (session_number < 1 || session_number > static_cast<int64_t>(sessions_.size())) {
    return nullptr;
  }
  return sessions_[session_number - 1].get();
}

std::vector<const SessionState*> Ledger::SessionsOf(std::string_view budget_id,
                                                    std::string_view after_id,
                                                    int64_t limit) const {
  std::vector<const SessionState*> result;
  auto it = session_numbers_.upper_bound({std::string(budget_id), std::string(after_id)});
  for (; it != session_numbers_.end() && it->first.first == budget_id &&
         static_cast<int64_t>(result.size()) < limit;
       ++it) {
    result.push_back(FindSession(it->second));
  }
  return result;
}

std::vector<const BudgetState*> Ledger::PathToRoot(const BudgetState& budget) const {
  std::vector<const BudgetState*> path;
  for (const BudgetState* b = &budget; b != nullptr; b = FindBudget(b->spec.parent_id)) {
    path.push_back(b);
  }
  return path;
}

std::vector<Gate> Ledger::GatesOf(const std::vector<const BudgetState*>& path) {
  std::vector<Gate> gates;
  for (size_t level = 0; level < path.size(); ++level) {
    Gate gate{.budget_id = path[level]->spec.id,
              .session_id = "",
              .balance = path[level]->balance,
              .cap = &path[level]->spec.cap};
    for (size_t i = 1; i <= level; ++i) {
      if (!path[i]->spec.partition_function.has_value()) continue;
      gate.partitions.push_back({.child_id = path[i - 1]->spec.id,
                                 .two_largest = TwoPartsChange(path[i]->spec.relation),
                                 .child_spent = path[i - 1]->contributions[level - i],
                                 .totals = path[i]->totals[level - i]});
    }
    gates.push_back(std::move(gate));
  }
  return gates;
}

std::vector<Gate> Ledger::GatesOf(const SessionState& session) const {
  if (session.spec.mode == SessionMode::kDeclared) return {};
  std::vector<Gate> gates = GatesOf(PathToRoot(*FindBudget(session.spec.budget_id)));
  if (session.own_balance.has_value()) {
    gates.insert(gates.begin(), Gate{.budget_id = session.spec.budget_id,
                                     .session_id = session.spec.id,
                                     .balance = *session.own_balance,
                                     .cap = &*session.spec.own_cap});
  }
  return gates;
}

std::optional<Refusal> Ledger::BlockedBy(const BudgetState& budget) const {
  for (const BudgetState* b = &budget; b != nullptr; b = FindBudget(b->spec.parent_id)) {
    if (b->phase == BudgetPhase::kActive) continue;
    Refusal refusal{.reason = b->phase == BudgetPhase::kFrozen ? RefusalReason::kBudgetFrozen
                              : b->phase == BudgetPhase::kClosed
                                  ? RefusalReason::kClosed
                                  : RefusalReason::kBudgetSuperseded};
    refusal.limiting_budget_id = b->spec.id;
    return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> Ledger::BlockedBy(const SessionState& session) const {
  if (session.closed) {
    Refusal refusal{.reason = RefusalReason::kClosed};
    refusal.limiting_budget_id = session.spec.budget_id;
    refusal.limiting_session_id = session.spec.id;
    return refusal;
  }
  return BlockedBy(*FindBudget(session.spec.budget_id));
}

std::optional<bool> Ledger::Holds(const SeenHead& seen) const {
  if (seen.sequence > head_.sequence) return false;
  if (seen.hash.empty()) return true;
  if (seen.sequence + kRecentHashes <= head_.sequence) return std::nullopt;
  return seen.hash == BytesOf(recent_hashes_[seen.sequence % kRecentHashes]);
}

absl::StatusOr<Ledger::Decision> Ledger::Decide(const Command& command, ChargeLookup lookup) const {
  if (command.scope != nullptr && !Covers(*command.scope, *this, command)) {
    return OutsideScope(*command.scope);
  }
  if (command.approval.has_value()) return DecideApproved(command, *command.approval, lookup);
  RETURN_IF_ERROR(CheckUnguarded(command));
  return DecideUnguarded(command, lookup);
}

absl::StatusOr<Ledger::Decision> Ledger::DecideUnguarded(const Command& command,
                                                         ChargeLookup lookup) const {
  const Pricing* pricing = command.pricing.get();
  if (const auto* c = std::get_if<Charge>(&command.body)) {
    return DecideOn(*c, command.time_micros, pricing, lookup);
  }
  if (const auto* c = std::get_if<SettleLease>(&command.body)) return DecideOn(*c, lookup);
  if (const auto* c = std::get_if<ChargePreview>(&command.body)) return DecideOn(*c, pricing);
  if (const auto* c = std::get_if<CreateBudget>(&command.body)) return DecideOn(*c, pricing);
  if (const auto* c = std::get_if<UpdateBudget>(&command.body)) return DecideOn(*c);
  if (const auto* c = std::get_if<ChangeBudgetPhase>(&command.body)) return DecideOn(*c);
  if (const auto* c = std::get_if<SupersedeBudget>(&command.body)) return DecideOn(*c, pricing);
  if (const auto* c = std::get_if<SetApprovalPolicy>(&command.body)) return DecideOn(*c);
  if (const auto* c = std::get_if<ProposeChange>(&command.body)) {
    return DecideOn(*c, command, lookup);
  }
  if (const auto* c = std::get_if<RejectProposal>(&command.body)) {
    return DecideOn(*c, command.time_micros);
  }
  if (const auto* c = std::get_if<CreateSession>(&command.body)) return DecideOn(*c, pricing);
  if (const auto* c = std::get_if<CloseSession>(&command.body)) return DecideOn(*c);
  if (const auto* c = std::get_if<RecordAudit>(&command.body)) return DecideOn(*c);
  if (const auto* c = std::get_if<OpenAttempt>(&command.body)) return DecideOn(*c);
  if (const auto* c = std::get_if<Annotate>(&command.body)) return DecideOn(*c);
  if (const auto* c = std::get_if<RecordSignOff>(&command.body)) return DecideOn(*c);
  return absl::InternalError("ledger: a command of the ledger of access");
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const Charge& command, int64_t time_micros,
                                                  const Pricing* pricing,
                                                  ChargeLookup lookup) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  if (command.attempt < 1 || command.attempt > session->current_attempt) {
    return absl::NotFoundError(absl::StrFormat(
        "budgets/%s/sessions/%s/attempts/%d: there is no such attempt; the newest is %d",
        command.session.budget_id, command.session.session_id, command.attempt,
        session->current_attempt));
  }
  ChargeDecider decider(*session, ConditionsOf(*session), pricing, head_.sequence, time_micros);
  for (const ChargeItem& item : command.items) {
    // Look up the key first: its outcome never changes (I5, I6). Most clients number their charges
    // in ascending order; then the store need not be asked.
    if (command.attempt == session->current_attempt &&
        session->IsBeyondLastChargeId(item.charge_id)) {
      continue;
    }
    ASSIGN_OR_RETURN(std::optional<ChargeRecord> prior,
                     FindCharge({session->number, command.attempt, item.charge_id}, lookup));
    if (!prior.has_value()) continue;
    absl::Status status = CheckSameKind(command, item, *prior, lookup);
    if (status.ok()) status = decider.AddReplay(item, *std::move(prior));
    if (!status.ok()) return status;
  }
  ASSIGN_OR_RETURN(std::vector<ChargeRecord> records, decider.DecideRest(command));
  if (!decider.wanted().empty()) return Decision{decider.wanted(), {}};
  Decision decision{ChargeOutcome{.records = std::move(records)}, decider.TakeEntries()};
  const ChargeRecord& first = std::get<ChargeOutcome>(decision.outcome).records[0];
  const bool is_new = first.sequence > head_.sequence;
  if (command.lease_expire_time_micros && is_new &&
      first.row.decision == ChargeDecision::kAccepted) {
    if (static_cast<int64_t>(session->open_leases.size()) >= kMaxOpenLeases) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "budgets/%s/sessions/%s has %d leases that are not settled, the most there "
          "may be: settle some",
          command.session.budget_id, command.session.session_id, kMaxOpenLeases));
    }
    decision.entries.push_back(
        LeaseGranted{.session_number = session->number,
                     .attempt = command.attempt,
                     .lease_id = command.items[0].charge_id,
                     .expire_time_micros = *command.lease_expire_time_micros});
  }
  return decision;
}

Conditions Ledger::ConditionsOf(const SessionState& session) const {
  Conditions conditions{.gates = GatesOf(session), .blocked = BlockedBy(session), .policies = {}};
  for (const BudgetState* budget = FindBudget(session.spec.budget_id); budget != nullptr;
       budget = FindBudget(budget->spec.parent_id)) {
    if (budget->spec.policy.has_value()) conditions.policies.push_back(&*budget->spec.policy);
  }
  return conditions;
}

absl::StatusOr<std::optional<ChargeRecord>> Ledger::FindCharge(const ChargeKey& key,
                                                               ChargeLookup lookup) const {
  ASSIGN_OR_RETURN(std::optional<Entry> entry, lookup(key));
  if (!entry.has_value()) return std::nullopt;
  ASSIGN_OR_RETURN(ChargeRecord record, ToRecord(*entry));
  return record;
}

absl::StatusOr<bool> Ledger::IsLease(const SessionState& session, const ChargeKey& key,
                                     ChargeLookup lookup) const {
  const std::vector<OpenLease>& open = session.open_leases;
  if (std::any_of(open.begin(), open.end(), [&](const OpenLease& lease) {
        return lease.attempt == key.attempt && lease.id == key.charge_id;
      })) {
    return true;
  }
  ASSIGN_OR_RETURN(const std::optional<Entry> settled,
                   lookup({key.session_number, key.attempt, SettlementId(key.charge_id)}));
  return settled.has_value();
}

absl::Status Ledger::CheckSameKind(const Charge& command, const ChargeItem& item,
                                   const ChargeRecord& stored, ChargeLookup lookup) const {
  // A refused charge was never a lease.
  if (stored.row.decision != ChargeDecision::kAccepted) return absl::OkStatus();
  const SessionState& session = *FindSession(stored.row.session_number);
  ASSIGN_OR_RETURN(const bool was_lease,
                   IsLease(session, {session.number, stored.row.attempt, item.charge_id}, lookup));
  if (was_lease == command.lease_expire_time_micros.has_value()) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrFormat(
      "charge id \"%s\" of attempt %d was used for a %s: a new step needs a new charge id",
      item.charge_id, stored.row.attempt, was_lease ? "lease" : "charge"));
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const SettleLease& command,
                                                  ChargeLookup lookup) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  const ChargeKey key{session->number, command.attempt, command.lease_id};
  ASSIGN_OR_RETURN(std::optional<ChargeRecord> charge, FindCharge(key, lookup));
  const std::string name =
      absl::StrFormat("budgets/%s/sessions/%s/attempts/%d/leases/%s", command.session.budget_id,
                      command.session.session_id, command.attempt, command.lease_id);
  ASSIGN_OR_RETURN(const bool is_lease, charge.has_value() ? IsLease(*session, key, lookup)
                                                           : absl::StatusOr<bool>(false));
  if (!is_lease) return absl::NotFoundError(name + ": there is no such lease");
  const int64_t granted = charge->row.count;
  if (command.used_count > granted) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "usedCount: got %d, want at most the %d that were granted", command.used_count, granted));
  }
  Decision decision{SettleOutcome{.charge = *std::move(charge), .used_count = command.used_count},
                    {}};
  ASSIGN_OR_RETURN(const std::optional<Entry> settled,
                   lookup({session->number, command.attempt, SettlementId(command.lease_id)}));
  if (settled.has_value()) {
    const auto* row = std::get_if<LeaseSettled>(&settled->body);
    if (row == nullptr) return absl::DataLossError(name + ": its settlement is damaged");
    if (row->used_count == command.used_count) return decision;
    return absl::AlreadyExistsError(absl::StrFormat("%s was settled with usedCount %d, got %d",
                                                    name, row->used_count, command.used_count));
  }
  decision.entries.push_back(LeaseSettled{.session_number = session->number,
                                          .attempt = command.attempt,
                                          .lease_id = command.lease_id,
                                          .used_count = command.used_count});
  return decision;
}

absl::StatusOr<Preview> Ledger::PreviewCharge(const SessionName& name,
                                              const accounting::MechanismEvent& event,
                                              int64_t count) const {
  const SessionState* session = FindSession(name);
  if (session == nullptr) return NoSuchSession(name);
  const Pricing none;
  ChargeDecider decider(*session, ConditionsOf(*session), &none, head_.sequence, 0);
  absl::StatusOr<Preview> preview = decider.PreviewOne(event, count);
  if (preview.ok() && !decider.wanted().empty()) {
    preview->refusal = Refusal{.reason = RefusalReason::kBudgetExhausted};
  }
  return preview;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const ChargePreview& command,
                                                  const Pricing* pricing) const {
  const auto decide = [&](const SessionState& session,
                          Conditions conditions) -> absl::StatusOr<Decision> {
    ChargeDecider decider(session, std::move(conditions), pricing, head_.sequence, 0);
    ASSIGN_OR_RETURN(Preview preview, decider.PreviewOne(command.event, command.count));
    if (!decider.wanted().empty()) return Decision{decider.wanted(), {}};
    return Decision{std::move(preview), {}};
  };
  if (!command.session.session_id.empty()) {
    const SessionState* session = FindSession(command.session);
    if (session == nullptr) return NoSuchSession(command.session);
    Conditions conditions = ConditionsOf(*session);
    if (command.new_attempt.has_value() && !conditions.blocked) {
      conditions.provenance = &*command.new_attempt;
      for (const Policy* policy : conditions.policies) {
        auto missing = MissingProvenance(*policy, *command.new_attempt);
        if (!missing.has_value()) continue;
        Refusal refusal{.reason = RefusalReason::kPolicyViolation};
        refusal.remedy = *std::move(missing);
        return Decision{Preview{.refusal = std::move(refusal), .steps_that_fit = 0}, {}};
      }
    }
    return decide(*session, std::move(conditions));
  }
  const BudgetState* budget = FindBudget(command.session.budget_id);
  if (budget == nullptr) {
    return absl::NotFoundError(
        absl::StrFormat("budgets/%s: there is no such budget", command.session.budget_id));
  }
  SessionState session;
  session.spec.budget_id = budget->spec.id;
  session.spec.relation = budget->spec.relation;
  return decide(session, {.gates = GatesOf(*budget),
                          .blocked = BlockedBy(*budget),
                          .policies = {},
                          .expects_event = command.expects_event});
}

double Ledger::LeasedFraction(const BudgetState& budget) const {
  std::vector<Cost> leased(budget.balance.spent().size());
  for (const int64_t number : budget.leasing_sessions) {
    const SessionState& session = *FindSession(number);
    const std::vector<const BudgetState*> path = PathToRoot(*FindBudget(session.spec.budget_id));
    const auto level =
        static_cast<size_t>(std::find(path.begin(), path.end(), &budget) - path.begin());
    const size_t gate = level + (session.own_balance.has_value() ? 1 : 0);
    for (const OpenLease& lease : session.open_leases) AddInPlace(lease.costs[gate], &leased);
  }
  return budget.balance.FractionOf(leased);
}

absl::StatusOr<ChargeRecord> Ledger::ToRecord(const Entry& entry) const {
  if (const auto* refused = std::get_if<ChargeRefused>(&entry.body);
      refused != nullptr && FindSession(refused->session_number) != nullptr) {
    return ChargeRecord{.row = {.session_number = refused->session_number,
                                .attempt = refused->attempt,
                                .charge_id = refused->charge_id,
                                .event_index = kNotHeld,
                                .count = refused->count,
                                .decision = ChargeDecision::kRefused,
                                .refusal = refused->refusal},
                        .event = {},
                        .outline = refused->event,
                        .sequence = entry.sequence,
                        .time_micros = entry.time_micros,
                        .hash = entry.hash};
  }
  const auto* row = std::get_if<ChargeDecided>(&entry.body);
  const SessionState* session = row == nullptr ? nullptr : FindSession(row->session_number);
  if (session == nullptr || row->event_index < 0 ||
      row->event_index >= static_cast<int64_t>(session->events.size())) {
    return absl::DataLossError(absl::StrFormat(
        "ledger of budgets/%s: stored charge %d does not belong to it", root_id_, entry.sequence));
  }
  return ChargeRecord{.row = *row,
                      .event = session->events[row->event_index].event,
                      .sequence = entry.sequence,
                      .time_micros = entry.time_micros,
                      .hash = entry.hash};
}

Entry Ledger::Seal(EntryBody body, int64_t time_micros, const std::optional<Actor>& actor) const {
  Entry entry{.sequence = head_.sequence + 1,
              .time_micros = time_micros,
              .actor = actor,
              .body = std::move(body)};
  entry.content = EncodeContent(entry.sequence, entry.time_micros, entry.body, entry.actor);
  entry.hash = ChainHash(head_.hash, entry.content);
  return entry;
}

absl::StatusOr<Outcome> Ledger::Execute(const Command& command, ChargeLookup lookup,
                                        absl::FunctionRef<absl::Status(const Entry&)> store) {
  ASSIGN_OR_RETURN(Decision decision, Decide(command, lookup));
  if (auto* wanted = std::get_if<PricesWanted>(&decision.outcome)) {
    wanted->command = std::make_shared<const Command>(command);
    return std::move(decision.outcome);
  }
  auto* charged = std::get_if<ChargeOutcome>(&decision.outcome);
  if (command.validate_only) {
    if (charged != nullptr) {
      for (ChargeRecord& record : charged->records) {
        if (record.sequence > head_.sequence) record.sequence = 0;
      }
    }
    return std::move(decision.outcome);
  }
  size_t record = 0;
  for (EntryBody& body : decision.entries) {
    const Entry entry = Seal(std::move(body), command.time_micros, command.actor);
    RETURN_IF_ERROR(store(entry));
    RETURN_IF_ERROR(ApplySealed(entry));
    // Records are in the order of their entries, mixed with replays.
    while (charged != nullptr && record < charged->records.size()) {
      ChargeRecord& next = charged->records[record];
      if (next.sequence > entry.sequence) break;
      if (next.sequence == entry.sequence) next.hash = entry.hash;
      ++record;
    }
  }
  if (auto* opened = std::get_if<AttemptOutcome>(&decision.outcome)) opened->head = head_;
  return std::move(decision.outcome);
}

}  // namespace epsledger::core
