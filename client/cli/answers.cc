#include "client/cli/answers.h"

#include <ostream>
#include <string>
#include <utility>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/str_cat.h"
#include "client/cli/cap_flags.h"
#include "client/cli/event_flags.h"
#include "epsledger/rounded_number.h"

namespace epsledger::cli {
namespace {

Table BudgetTable(const std::vector<const v1::Budget*>& budgets) {
  Table table({"name", "state", "cap", "spent %", "accepted", "refused", "relation", "privacy unit",
               "parent", "display name", "theorem"});
  for (const v1::Budget* budget : budgets) {
    table.AddRow({budget->name(), v1::Budget::State_Name(budget->state()),
                  DescribeCap(budget->cap()), Cell(100 * budget->spent_fraction(), Rounding::kUp),
                  budget->accepted_charge_count(), budget->refused_charge_count(),
                  v1::NeighboringRelation::Kind_Name(budget->neighboring_relation()),
                  budget->privacy_unit(), budget->parent(), budget->display_name(),
                  budget->theorem()});
  }
  return table;
}

// The columns that fit on a line; csv and json have all of them.
Table ShortBudgetTable(const std::vector<const v1::Budget*>& budgets) {
  Table table({"name", "state", "cap", "spent %", "accepted", "refused"});
  for (const v1::Budget* budget : budgets) {
    table.AddRow({budget->name(), v1::Budget::State_Name(budget->state()),
                  DescribeCap(budget->cap()), Cell(100 * budget->spent_fraction(), Rounding::kUp),
                  budget->accepted_charge_count(), budget->refused_charge_count()});
  }
  return table;
}

std::string DescribeHistory(const v1::Session& session) {
  std::string text;
  for (const v1::CountedEvent& event : session.history()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", event.count(), " x ",
                    DescribeEvent(event.event()));
  }
  return text;
}

// The label of what is known of the algorithm, with its flag; a session without a claim has none.
std::string DescribeLabel(const v1::Session& session) {
  if (!session.has_claim()) return "";
  return absl::StrCat(session.claim().label(),
                      session.claim().counterexample_known() ? " (counterexample_known)" : "");
}

Table AuditsTable(const v1::Session& session) {
  Table table({"audited", "epsilon lower", "at delta", "confidence", "if", "trials",
               "compared with", "exceeds claim", "source", "sequence"});
  for (const v1::SessionAudit& audit : session.audits()) {
    table.AddRow(
        {v1::AuditCanariesRequest::Method_Name(audit.method()),
         Cell(audit.epsilon_lower_bound(), Rounding::kDown), ExactNumber(audit.delta()),
         ExactNumber(audit.confidence()),
         audit.hypothesis() == v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF ? "Gaussian trade-off"
                                                                             : "",
         audit.trials(),
         audit.has_claimed_epsilon() ? Cell(audit.claimed_epsilon(), Rounding::kUp) : Cell(""),
         audit.exceeds_claim() ? "YES" : "no", audit.source(), audit.sequence()});
  }
  return table;
}

Table SessionTable(const std::vector<const v1::Session*>& sessions) {
  Table table({"name", "mode", "state", "attempt", "accepted", "refused", "history", "own cap",
               "display name", "label", "claimed epsilon"});
  for (const v1::Session* session : sessions) {
    table.AddRow(
        {session->name(), v1::Session::Mode_Name(session->mode()),
         v1::Session::State_Name(session->state()), session->current_attempt(),
         session->accepted_charge_count(), session->refused_charge_count(),
         DescribeHistory(*session),
         session->has_own_cap()  ? DescribeCap(session->own_cap())
         : session->no_own_cap() ? "none: the budgets limit it"
                                 : "the plan",
         session->display_name(), DescribeLabel(*session),
         session->has_claim() ? Cell(session->claim().epsilon(), Rounding::kUp) : Cell("")});
  }
  return table;
}

}  // namespace

Table CellTable(const google::protobuf::RepeatedPtrField<v1::CellBalance>& cells) {
  Table table({"quantity", "order", "cap", "spent", "remaining"});
  for (const v1::CellBalance& cell : cells) {
    const int digits = DigitsForSpent(cell.spent(), cell.cap());
    const bool has_order = cell.quantity() == v1::CellBalance::RENYI_DIVERGENCE;
    table.AddRow({v1::CellBalance::Quantity_Name(cell.quantity()),
                  has_order ? Cell(cell.order(), Rounding::kDown) : Cell(""),
                  Cell(cell.cap(), Rounding::kDown, digits),
                  Cell(cell.spent(), Rounding::kUp, digits),
                  Cell(cell.remaining(), Rounding::kDown)});
  }
  return table;
}

void PrintBudget(Invocation& invocation, const v1::Budget& budget) {
  const Table cells = CellTable(budget.cells());
  invocation.Print({.messages = {&budget}, .table = BudgetTable({&budget}), .below = &cells});
}

void PrintBudgets(Invocation& invocation, const std::vector<const v1::Budget*>& budgets) {
  invocation.Print(
      {.messages = {budgets.begin(), budgets.end()},
       .is_list = true,
       .table = invocation.IsForPeople() ? ShortBudgetTable(budgets) : BudgetTable(budgets)});
}

void PrintSession(Invocation& invocation, const v1::Session& session) {
  const Table cells = CellTable(session.cells());
  invocation.Print({.messages = {&session}, .table = SessionTable({&session}), .below = &cells});
  if (!invocation.IsForPeople() || session.audits().empty()) return;
  invocation.terminal().out << "\n";
  AuditsTable(session).PrintAligned(invocation.terminal().out, invocation.terminal().color);
}

void PrintSessions(Invocation& invocation, const std::vector<const v1::Session*>& sessions) {
  invocation.Print({.messages = {sessions.begin(), sessions.end()},
                    .is_list = true,
                    .table = SessionTable(sessions)});
}

Table ChargeTable(const std::vector<const v1::Charge*>& charges) {
  Table table({"sequence", "name", "count", "event", "decision", "reason", "limited by"});
  for (const v1::Charge* charge : charges) {
    const bool refused = charge->has_refusal();
    table.AddRow({charge->sequence(), charge->name(), charge->count(),
                  DescribeEvent(charge->event()), v1::Charge::Decision_Name(charge->decision()),
                  refused ? v1::Refusal::Reason_Name(charge->refusal().reason()) : "",
                  refused ? charge->refusal().limiting_resource() : ""});
  }
  return table;
}

void PrintLease(Invocation& invocation, const v1::Lease& lease) {
  Table table({"name", "event", "granted", "used", "wasted", "settled", "expires", "sequence"});
  table.AddRow({lease.name(), DescribeEvent(lease.event()), lease.granted_count(),
                lease.used_count(), lease.wasted_count(), lease.settled() ? "yes" : "no",
                lease.has_expire_time()
                    ? std::string(google::protobuf::util::TimeUtil::ToString(lease.expire_time()))
                    : "",
                lease.sequence()});
  invocation.Print({.messages = {&lease}, .table = std::move(table)});
}

void PrintReadings(Invocation& invocation,
                   const google::protobuf::RepeatedPtrField<v1::AccountantReading>& readings) {
  Table table({"accountant", "epsilon", "lower", "kind", "theorem or why there is none"});
  std::vector<const google::protobuf::Message*> messages;
  for (const v1::AccountantReading& reading : readings) {
    messages.push_back(&reading);
    const v1::Guarantee& guarantee = reading.guarantee();
    table.AddRow({v1::Accountant::Kind_Name(reading.accountant()),
                  guarantee.has_upper() ? Cell(guarantee.upper(), Rounding::kUp) : Cell(""),
                  guarantee.has_lower() ? Cell(guarantee.lower(), Rounding::kDown) : Cell(""),
                  reading.has_guarantee() ? v1::Guarantee::Kind_Name(guarantee.kind()) : "",
                  reading.has_guarantee() ? guarantee.theorem() : reading.reason_unavailable()});
  }
  invocation.Print({.messages = std::move(messages), .is_list = true, .table = std::move(table)});
}

}  // namespace epsledger::cli
