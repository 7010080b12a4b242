// Approval by two people: the changes that a budget guards, and decisions on proposals.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/core/proposal.h"

namespace epsledger::core {
namespace {

std::string NameOf(std::string_view budget_id, std::string_view proposal_id) {
  return absl::StrFormat("budgets/%s/proposals/%s", budget_id, proposal_id);
}

absl::Status NoBudget(std::string_view id) {
  return absl::NotFoundError(absl::StrFormat("budgets/%s: there is no such budget", id));
}

absl::Status BadEntry(const char* what) {
  return absl::DataLossError(absl::StrCat("ledger: ", what));
}

bool GuardsLess(const std::vector<GuardedChange>& before, const std::vector<GuardedChange>& after) {
  return !std::includes(after.begin(), after.end(), before.begin(), before.end());
}

bool IsRising(const std::vector<GuardedChange>& guarded) {
  return std::adjacent_find(guarded.begin(), guarded.end(), std::greater_equal<>()) ==
         guarded.end();
}

const Proposal* FindProposal(const BudgetState* budget, std::string_view id) {
  if (budget == nullptr) return nullptr;
  const auto found = budget->proposals.find(id);
  return found == budget->proposals.end() ? nullptr : &found->second;
}

absl::StatusOr<const Proposal*> PendingProposal(const BudgetState* budget,
                                                std::string_view budget_id, std::string_view id,
                                                int64_t now_micros) {
  const Proposal* proposal = FindProposal(budget, id);
  const std::string name = NameOf(budget_id, id);
  if (proposal == nullptr) return absl::NotFoundError(name + ": there is no such proposal");
  if (proposal->state == ProposalState::kExpired || HasExpired(*proposal, now_micros)) {
    return absl::FailedPreconditionError(name + " has expired: propose it again");
  }
  if (proposal->state != ProposalState::kPending) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s was %s by %s", name,
                        proposal->state == ProposalState::kApproved ? "approved" : "rejected",
                        proposal->resolved_by));
  }
  return proposal;
}

void ForgetResolved(BudgetState* budget) {
  while (budget->resolved_proposals.size() > kMaxResolvedProposals) {
    budget->proposals.erase(budget->resolved_proposals.front());
    budget->resolved_proposals.pop_front();
  }
}

// The changes of a command that a budget may guard.
struct Guarded {
  std::vector<GuardedChange> changes;
  const char* words;
};

// Returns nothing for commands that cannot be guarded.
std::optional<Guarded> GuardedIn(const Command& command, const BudgetState& budget) {
  if (std::holds_alternative<SupersedeBudget>(command.body)) {
    // The old budget takes no more charges (close), and a frozen budget continues as its successor
    // (thaw).
    Guarded guarded{{GuardedChange::kSupersede, GuardedChange::kClose}, "superseded"};
    if (budget.phase == BudgetPhase::kFrozen) guarded.changes.push_back(GuardedChange::kThaw);
    return guarded;
  }
  if (const auto* phase = std::get_if<ChangeBudgetPhase>(&command.body)) {
    if (phase->phase == BudgetPhase::kClosed) return Guarded{{GuardedChange::kClose}, "closed"};
    if (phase->phase == BudgetPhase::kActive) return Guarded{{GuardedChange::kThaw}, "thawed"};
  }
  return std::nullopt;
}

constexpr char kHowToPropose[] = "propose it (`epsctl proposal`), and let another admin approve it";

}  // namespace

const BudgetState* Ledger::GuardOf(const BudgetState& budget, GuardedChange change) const {
  for (const BudgetState* at = &budget; at != nullptr; at = FindBudget(at->spec.parent_id)) {
    if (std::binary_search(at->guarded.begin(), at->guarded.end(), change)) return at;
  }
  return nullptr;
}

absl::Status Ledger::CheckUnguarded(const Command& command) const {
  if (const auto* policy = std::get_if<SetApprovalPolicy>(&command.body)) {
    const BudgetState* budget = FindBudget(policy->budget_id);
    if (budget == nullptr || !GuardsLess(budget->guarded, policy->guarded)) return absl::OkStatus();
    return ApprovalRequired(absl::StrFormat(
        "guarded: got fewer changes than budgets/%s guards, which a second person must approve: %s",
        policy->budget_id, kHowToPropose));
  }
  const std::string& budget_id = BudgetOf(command);
  const BudgetState* budget = FindBudget(budget_id);
  if (budget == nullptr) return absl::OkStatus();  // the decision reports NOT_FOUND
  const std::optional<Guarded> guarded = GuardedIn(command, *budget);
  if (!guarded.has_value()) return absl::OkStatus();
  // Repeating the command changes nothing and gives the same outcome.
  if (const auto* phase = std::get_if<ChangeBudgetPhase>(&command.body);
      phase != nullptr && phase->phase == budget->phase) {
    return absl::OkStatus();
  }
  if (const auto* supersede = std::get_if<SupersedeBudget>(&command.body);
      supersede != nullptr && supersede->successor_id == budget->superseded_by) {
    return absl::OkStatus();
  }
  for (const GuardedChange change : guarded->changes) {
    const BudgetState* guard = GuardOf(*budget, change);
    if (guard == nullptr) continue;
    return ApprovalRequired(
        absl::StrFormat("budgets/%s is not %s by one person alone, as budgets/%s guards %s: %s",
                        budget_id, guarded->words, guard->spec.id, Name(change), kHowToPropose));
  }
  return absl::OkStatus();
}

absl::StatusOr<Ledger::Decision> Ledger::DecideApproved(const Command& command,
                                                        const Approval& approval,
                                                        ChargeLookup lookup) const {
  const std::string& budget_id = BudgetOf(command);
  const BudgetState* budget = FindBudget(budget_id);
  if (const auto* create = std::get_if<CreateBudget>(&command.body);
      create != nullptr && budget == nullptr && FindBudget(create->spec.id) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrFormat("budgets/%s exists already in another tree", create->spec.id));
  }
  ASSIGN_OR_RETURN(const Proposal* proposal,
                   PendingProposal(budget, budget_id, approval.proposal_id, command.time_micros));
  if (proposal->sequence != approval.sequence) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: got the approval of the proposal with sequence %d, want %d: another one bears the "
        "name, read it again",
        NameOf(budget_id, approval.proposal_id), approval.sequence, proposal->sequence));
  }
  const Person& proposer = proposal->asked.proposer;
  if (!AreTwoPeople(proposer, approval.approver)) {
    return SecondPersonRequired(absl::StrFormat(
        "%s: got the approval of %s, want that of another person than %s, who proposed it. One of "
        "two tokens that made the other is no other person, nor are two that one person made, nor "
        "is a token whose makers are not all known any more",
        NameOf(budget_id, approval.proposal_id), approval.approver.principal, proposer.principal));
  }
  Command proposed = command;
  proposed.body = CommandFor(proposal->asked);
  absl::StatusOr<Decision> decision = DecideUnguarded(proposed, lookup);
  if (!decision.ok() || std::holds_alternative<PricesWanted>(decision->outcome)) return decision;
  decision->entries.insert(decision->entries.begin(),
                           ProposalResolved{.budget_id = budget_id,
                                            .proposal_id = approval.proposal_id,
                                            .approved = true,
                                            .resolver = approval.approver,
                                            .reason = approval.reason});
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const ProposeChange& proposal,
                                                  const Command& command,
                                                  ChargeLookup lookup) const {
  const BudgetState* budget = FindBudget(proposal.budget_id);
  if (budget == nullptr) return NoBudget(proposal.budget_id);
  Decision decision{ProposalOutcome{proposal.budget_id, proposal.proposal_id}, {}};
  ChangeProposed entry{.budget_id = proposal.budget_id,
                       .proposal_id = proposal.proposal_id,
                       .change = proposal.change,
                       .reason = proposal.reason,
                       .proposer = proposal.proposer,
                       .expire_time_micros = proposal.expire_time_micros};
  if (const Proposal* known = FindProposal(budget, proposal.proposal_id)) {
    // The same proposal, apart from its expiry time.
    const ProposeChange& asked = known->asked;
    if (asked.reason == proposal.reason &&
        asked.proposer.principal == proposal.proposer.principal &&
        EncodeChange(asked.change) == EncodeChange(proposal.change)) {
      return decision;
    }
    return absl::AlreadyExistsError(NameOf(proposal.budget_id, proposal.proposal_id) +
                                    " exists with another change, reason or proposer");
  }
  int64_t pending = 0;
  int64_t of_proposer = 0;
  for (const auto& [id, other] : budget->proposals) {
    if (other.state != ProposalState::kPending || HasExpired(other, command.time_micros)) continue;
    ++pending;
    if (other.asked.proposer.principal == proposal.proposer.principal) ++of_proposer;
  }
  if (pending >= kMaxPendingProposals || of_proposer >= kMaxPendingProposalsOfOne) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "budgets/%s: got %d proposals that are pending, %d of them yours, want at most %d and %d: "
        "wait until some are approved or rejected",
        proposal.budget_id, pending, of_proposer, kMaxPendingProposals, kMaxPendingProposalsOfOne));
  }
  // A change that could not be made now cannot be proposed.
  Command proposed = command;
  proposed.body = CommandFor(proposal);
  absl::StatusOr<Decision> would = DecideUnguarded(proposed, lookup);
  if (!would.ok() || std::holds_alternative<PricesWanted>(would->outcome)) return would;
  if (would->entries.empty()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("proposal: got %s, want a change: budgets/%s is like that already",
                        Describe(proposal.change), proposal.budget_id));
  }
  decision.entries.push_back(std::move(entry));
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const RejectProposal& command,
                                                  int64_t time_micros) const {
  const BudgetState* budget = FindBudget(command.budget_id);
  if (budget == nullptr) return NoBudget(command.budget_id);
  RETURN_IF_ERROR(
      PendingProposal(budget, command.budget_id, command.proposal_id, time_micros).status());
  return Decision{ProposalOutcome{command.budget_id, command.proposal_id},
                  {ProposalResolved{.budget_id = command.budget_id,
                                    .proposal_id = command.proposal_id,
                                    .approved = false,
                                    .resolver = command.resolver,
                                    .reason = command.reason}}};
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const SetApprovalPolicy& command) const {
  const BudgetState* budget = FindBudget(command.budget_id);
  if (budget == nullptr) return NoBudget(command.budget_id);
  Decision decision{BudgetOutcome{.budget_id = command.budget_id, .created = false}, {}};
  if (budget->guarded != command.guarded) {
    decision.entries.push_back(
        ApprovalPolicySet{.budget_id = command.budget_id, .guarded = command.guarded});
  }
  return decision;
}

absl::Status Ledger::ApplyBody(const ApprovalPolicySet& body, const Entry&) {
  const auto it = budgets_.find(body.budget_id);
  if (it == budgets_.end() || !IsRising(body.guarded)) {
    return BadEntry("a policy of approval is of no budget, or out of order");
  }
  it->second.guarded = body.guarded;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const ChangeProposed& body, const Entry& entry) {
  const auto it = budgets_.find(body.budget_id);
  if (it == budgets_.end() || it->second.proposals.count(body.proposal_id) > 0) {
    return BadEntry("a change is proposed twice, or of no budget");
  }
  BudgetState& budget = it->second;
  // Expired proposals are kept as long as resolved ones.
  for (auto& [id, other] : budget.proposals) {
    if (!HasExpired(other, entry.time_micros)) continue;
    other.state = ProposalState::kExpired;
    budget.resolved_proposals.push_back(id);
  }
  budget.proposals.emplace(body.proposal_id,
                           Proposal{.asked = {.budget_id = body.budget_id,
                                              .proposal_id = body.proposal_id,
                                              .change = body.change,
                                              .reason = body.reason,
                                              .proposer = body.proposer,
                                              .expire_time_micros = body.expire_time_micros},
                                    .sequence = entry.sequence,
                                    .create_time_micros = entry.time_micros});
  ForgetResolved(&budget);
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const ProposalResolved& body, const Entry& entry) {
  const auto it = budgets_.find(body.budget_id);
  if (it == budgets_.end()) return BadEntry("a proposal of no budget is resolved");
  const auto found = it->second.proposals.find(body.proposal_id);
  if (found == it->second.proposals.end() || found->second.state != ProposalState::kPending) {
    return BadEntry("a proposal is resolved twice, or there is none");
  }
  Proposal& proposal = found->second;
  if (body.approved && !AreTwoPeople(proposal.asked.proposer, body.resolver)) {
    return BadEntry("a proposal is approved by who proposed it");
  }
  proposal.state = body.approved ? ProposalState::kApproved : ProposalState::kRejected;
  proposal.resolved_by = body.resolver.principal;
  proposal.resolve_reason = body.reason;
  proposal.resolve_time_micros = entry.time_micros;
  it->second.resolved_proposals.push_back(body.proposal_id);
  ForgetResolved(&it->second);
  return absl::OkStatus();
}

}  // namespace epsledger::core
