#include "client/cli/print/answers.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/cap_flags.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/chart.h"
#include "epsledger/rounded_number.h"

namespace epsledger::cli {
namespace {

Tone ToneOf(v1::Budget::State state) {
  switch (state) {
    case v1::Budget::CLOSED:
      return Tone::kBad;
    case v1::Budget::FROZEN:
    case v1::Budget::SUPERSEDED:
      return Tone::kWarning;
    default:
      return Tone::kPlain;
  }
}

constexpr char kTheorem[] = "theorem";

Table BudgetTable(const std::vector<const v1::Budget*>& budgets) {
  Table table({"name", "state", "cap", "spent %", "accepted", "refused", "relation", "privacy unit",
               "parent", "display name", kTheorem});
  table.OnlyWide({kTheorem});
  for (const v1::Budget* budget : budgets) {
    table.AddRow(
        {NameCell(budget->name()),
         TableCell(v1::Budget::State_Name(budget->state())).In(ToneOf(budget->state())),
         DescribeCap(budget->cap()), TableCell(100 * budget->spent_fraction(), Rounding::kUp),
         budget->accepted_charge_count(), budget->refused_charge_count(),
         v1::NeighboringRelation::Kind_Name(budget->neighboring_relation()), budget->privacy_unit(),
         NameCell(budget->parent()), budget->display_name(), budget->theorem()});
  }
  return table;
}

// Red if nothing is left, yellow from the first alert threshold on.
Tone SpentTone(const v1::Budget& budget) {
  if (!(budget.spent_fraction() < 1)) return Tone::kBad;
  const bool alerted =
      !budget.alert_thresholds().empty() && budget.spent_fraction() >= budget.alert_thresholds(0);
  return alerted ? Tone::kWarning : Tone::kPlain;
}

// The columns that fit on a line; csv and json have all columns.
Table ShortBudgetTable(const std::vector<const v1::Budget*>& budgets, const Invocation& invocation,
                       const std::vector<std::string>& branches) {
  std::vector<std::string> columns = {"name", "state", "cap", "spent %"};
  if (invocation.DrawsCharts()) columns.push_back("of the cap");
  columns.insert(columns.end(), {"accepted", "refused"});
  if (invocation.IsWide()) columns.insert(columns.end(), {"relation", "privacy unit", kTheorem});
  Table table(std::move(columns));
  if (invocation.DrawsCharts()) table.IfRoom({"of the cap"});
  table.IfRoom({"accepted", "refused"}).MayCut({"cap"});
  for (size_t i = 0; i < budgets.size(); ++i) {
    const v1::Budget& budget = *budgets[i];
    const std::string branch = branches.empty() ? "" : branches[i];
    std::vector<TableCell> row = {
        absl::StrCat(branch, ShortName(budget.name())),
        TableCell(v1::Budget::State_Name(budget.state())).In(ToneOf(budget.state())),
        invocation.IsWide() ? DescribeCap(budget.cap()) : DescribeCapBriefly(budget.cap()),
        TableCell(100 * budget.spent_fraction(), Rounding::kUp)};
    if (invocation.DrawsCharts()) {
      row.push_back(TableCell(Bar(budget.spent_fraction(), budget.leased_fraction(),
                                  invocation.terminal().unicode))
                        .In(SpentTone(budget)));
    }
    row.insert(row.end(), {budget.accepted_charge_count(), budget.refused_charge_count()});
    if (invocation.IsWide()) {
      row.insert(row.end(), {v1::NeighboringRelation::Kind_Name(budget.neighboring_relation()),
                             budget.privacy_unit(), budget.theorem()});
    }
    table.AddRow(std::move(row));
  }
  return table;
}

// Adds the budget below `parent` and all below it, each with the lines that lead to it.
void AddBranches(const std::multimap<std::string, const v1::Budget*>& children,
                 const std::string& parent, const std::string& lines, bool unicode,
                 std::vector<const v1::Budget*>* budgets, std::vector<std::string>* branches) {
  const auto [first, last] = children.equal_range(parent);
  for (auto child = first; child != last; ++child) {
    const bool is_last = std::next(child) == last;
    budgets->push_back(child->second);
    branches->push_back(
        absl::StrCat(lines, unicode ? (is_last ? "└─ " : "├─ ") : (is_last ? "`- " : "|- ")));
    AddBranches(children, child->second->name(),
                absl::StrCat(lines, is_last ? "   " : (unicode ? "│  " : "|  ")), unicode, budgets,
                branches);
  }
}

// Returns the whole budget in one bar, with its legend.
std::string BudgetChart(const v1::Budget& budget, const Invocation& invocation) {
  if (!invocation.DrawsCharts()) return "";
  std::string chart = absl::StrCat(
      Bar(budget.spent_fraction(), budget.leased_fraction(), invocation.terminal().unicode), "  ",
      RoundedNumber(100 * budget.spent_fraction(), Rounding::kUp, 3), " % spent");
  if (budget.leased_fraction() > 0) {
    absl::StrAppend(&chart, ", of it ",
                    RoundedNumber(100 * budget.leased_fraction(), Rounding::kUp, 3),
                    " % in open leases (", invocation.terminal().unicode ? "▓" : "=", ")");
  }
  return chart;
}

// Returns a sentence on what a cap in units holds; empty for other caps.
std::string UnitsSummary(const v1::Budget& budget) {
  const auto units = std::find_if(
      budget.cells().begin(), budget.cells().end(),
      [](const v1::CellBalance& cell) { return cell.quantity() == v1::CellBalance::UNITS; });
  if (units == budget.cells().end()) return "";
  const v1::MechanismEvent* reference = ReferenceOf(budget.cap());
  if (reference == nullptr) {
    return "It will count units of the event that its first session expects (session create\n"
           "--expects), or else that its first charge suggests.";
  }
  return absl::StrCat("It counts units of ", DescribeEvent(*reference),
                      ": a step that is exactly this costs one.\n",
                      static_cast<int64_t>(units->cap()), " such steps fit in all, ",
                      static_cast<int64_t>(units->remaining()), " are left.");
}

std::string DescribeHistory(const v1::Session& session) {
  if (session.events_omitted()) {
    return absl::StrCat(session.step_count(), " uses of many events (session history)");
  }
  std::string text;
  for (const v1::CountedEvent& event : session.history()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", event.count(), " x ",
                    DescribeEvent(event.event()));
  }
  return text;
}

// Returns the label of what is known about the algorithm, with its flag.
std::string DescribeLabel(const v1::Session& session) {
  if (!session.has_claim()) return "no claim made";
  return absl::StrCat(session.claim().label(),
                      session.claim().counterexample_known() ? " (counterexample_known)" : "");
}

Table AuditsTable(const v1::Session& session) {
  Table table({"audited", "epsilon lower", "at delta", "confidence", "if", "trials",
               "compared with", "exceeds claim", "source", "sequence"});
  for (const v1::SessionAudit& audit : session.audits()) {
    table.AddRow({v1::AuditCanariesRequest::Method_Name(audit.method()),
                  TableCell(audit.epsilon_lower_bound(), Rounding::kDown),
                  ExactNumber(audit.delta()), ExactNumber(audit.confidence()),
                  audit.hypothesis() == v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF
                      ? "Gaussian trade-off"
                      : "",
                  audit.trials(),
                  audit.has_claimed_epsilon() ? TableCell(audit.claimed_epsilon(), Rounding::kUp)
                                              : TableCell(""),
                  audit.exceeds_claim() ? "YES" : "no", audit.source(), audit.sequence()});
  }
  return table;
}

Table SessionTable(const std::vector<const v1::Session*>& sessions) {
  Table table({"name", "mode", "state", "attempt", "accepted", "refused", "history", "own cap",
               "display name", "label", "claimed epsilon"});
  table.IfRoom({"accepted", "refused", "own cap", "display name", "label", "claimed epsilon"})
      .MayCut({"history"});
  for (const v1::Session* session : sessions) {
    table.AddRow({NameCell(session->name()), v1::Session::Mode_Name(session->mode()),
                  v1::Session::State_Name(session->state()), session->current_attempt(),
                  session->accepted_charge_count(), session->refused_charge_count(),
                  DescribeHistory(*session),
                  session->has_own_cap()  ? DescribeCap(session->own_cap())
                  : session->no_own_cap() ? "none: the budgets limit it"
                                          : "the plan",
                  session->display_name(), DescribeLabel(*session),
                  session->has_claim() ? TableCell(session->claim().epsilon(), Rounding::kUp)
                                       : TableCell("")});
  }
  return table;
}

using Cells = google::protobuf::RepeatedPtrField<v1::CellBalance>;

// Returns the cell whose room decides: the fullest one if all must have room, otherwise the one
// with the most room. A cell without a cap counts nothing yet, and a RESERVE belongs to another
// cell. Null if no cell decides.
const v1::CellBalance* DecidingCell(const Cells& cells, bool all_must_fit) {
  const v1::CellBalance* deciding = nullptr;
  double share = 0;
  for (const v1::CellBalance& cell : cells) {
    if (!(cell.cap() > 0) || cell.quantity() == v1::CellBalance::RESERVE) continue;
    const double spent = cell.spent() / cell.cap();
    if (deciding == nullptr || (all_must_fit ? spent > share : spent < share)) {
      deciding = &cell;
      share = spent;
    }
  }
  return deciding;
}

// Returns the cap of each quantity that people want to see, and how much of it is spent.
Table CellTable(const Cells& cells, bool all_must_fit, const Invocation& invocation) {
  std::vector<std::string> columns = {"quantity", "order", "cap", "spent", "remaining"};
  if (invocation.DrawsCharts()) columns.push_back("of the cap");
  Table table(std::move(columns));
  const v1::CellBalance* deciding = DecidingCell(cells, all_must_fit);
  for (const v1::CellBalance& cell : cells) {
    if (!invocation.IsWide() && deciding != nullptr && &cell != deciding) continue;
    const int digits = DigitsForSpent(cell.spent(), cell.cap());
    const bool has_order = cell.quantity() == v1::CellBalance::RENYI_DIVERGENCE;
    std::vector<TableCell> row = {
        v1::CellBalance::Quantity_Name(cell.quantity()),
        has_order ? TableCell(cell.order(), Rounding::kDown) : TableCell(""),
        TableCell(cell.cap(), Rounding::kDown, digits),
        TableCell(cell.spent(), Rounding::kUp, digits),
        TableCell(cell.remaining(), Rounding::kDown)};
    if (invocation.DrawsCharts()) {
      row.push_back(
          cell.cap() > 0 ? Bar(cell.spent() / cell.cap(), 0, invocation.terminal().unicode) : "");
    }
    table.AddRow(std::move(row));
  }
  return table;
}

// Returns a line on the cells that are not shown; empty if all are.
std::string OtherCells(const Cells& cells, bool all_must_fit, const Invocation& invocation) {
  const int others = cells.size() - 1;
  if (invocation.IsWide() || others < 1 || DecidingCell(cells, all_must_fit) == nullptr) return "";
  return absl::StrCat(others, others == 1 ? " more cell" : " more cells",
                      all_must_fit ? ", all with more room" : ", none with more room",
                      " (-o wide).");
}

}  // namespace

TableCell NameCell(const std::string& name) { return TableCell(name).ForPeople(ShortName(name)); }

void PrintBudget(Invocation& invocation, const v1::Budget& budget, const std::string& spent) {
  const Table cells = CellTable(budget.cells(), budget.all_cells_must_fit(), invocation);
  std::vector<std::string> lines = {
      OtherCells(budget.cells(), budget.all_cells_must_fit(), invocation),
      BudgetChart(budget, invocation), spent, UnitsSummary(budget)};
  std::erase(lines, "");
  invocation.Print({.messages = {&budget},
                    .table = BudgetTable({&budget}),
                    .below = &cells,
                    .summary = absl::StrJoin(lines, "\n")});
}

void PrintBudgets(Invocation& invocation, const std::vector<const v1::Budget*>& budgets) {
  invocation.Print({.messages = {budgets.begin(), budgets.end()},
                    .is_list = true,
                    .table = invocation.IsForPeople() ? ShortBudgetTable(budgets, invocation, {})
                                                      : BudgetTable(budgets)});
}

void PrintBudgetTree(Invocation& invocation, const std::vector<const v1::Budget*>& budgets) {
  if (!invocation.IsForPeople() || budgets.empty()) return PrintBudgets(invocation, budgets);
  std::multimap<std::string, const v1::Budget*> children;
  for (size_t i = 1; i < budgets.size(); ++i) children.emplace(budgets[i]->parent(), budgets[i]);
  std::vector<const v1::Budget*> ordered = {budgets[0]};
  std::vector<std::string> branches = {""};
  AddBranches(children, budgets[0]->name(), "", invocation.terminal().unicode, &ordered, &branches);
  invocation.Print({.messages = {ordered.begin(), ordered.end()},
                    .is_list = true,
                    .table = ShortBudgetTable(ordered, invocation, branches)});
}

void PrintSession(Invocation& invocation, const v1::Session& session, const std::string& chart) {
  const Table cells = CellTable(session.cells(), session.all_cells_must_fit(), invocation);
  std::vector<std::string> lines = {
      OtherCells(session.cells(), session.all_cells_must_fit(), invocation),
      invocation.DrawsCharts() ? chart : ""};
  std::erase(lines, "");
  invocation.Print({.messages = {&session},
                    .table = SessionTable({&session}),
                    .below = &cells,
                    .summary = absl::StrJoin(lines, "\n")});
  if (!invocation.IsForPeople() || session.audits().empty()) return;
  invocation.terminal().out << "\n";
  AuditsTable(session).PrintAligned(invocation.terminal().out, invocation.Style());
}

void PrintSessions(Invocation& invocation, const std::vector<const v1::Session*>& sessions) {
  invocation.Print({.messages = {sessions.begin(), sessions.end()},
                    .is_list = true,
                    .table = SessionTable(sessions)});
}

Table ChargeTable(const std::vector<const v1::Charge*>& charges) {
  Table table({"sequence", "name", "count", "event", "decision", "reason", "limited by"});
  table.IfRoom({"limited by", "reason"}).MayCut({"event"});
  for (const v1::Charge* charge : charges) {
    const bool refused = charge->has_refusal();
    table.AddRow({charge->sequence(), NameCell(charge->name()), charge->count(),
                  DescribeEvent(*charge),
                  TableCell(v1::Charge::Decision_Name(charge->decision()))
                      .In(refused ? Tone::kBad : Tone::kGood),
                  refused ? v1::Refusal::Reason_Name(charge->refusal().reason()) : "",
                  NameCell(refused ? charge->refusal().limiting_resource() : "")});
  }
  return table;
}

void PrintLease(Invocation& invocation, const v1::Lease& lease) {
  Table table({"name", "event", "granted", "used", "wasted", "settled", "expires", "sequence"});
  table.AddRow({NameCell(lease.name()), DescribeEvent(lease.event()), lease.granted_count(),
                lease.used_count(), lease.wasted_count(), lease.settled() ? "yes" : "no",
                lease.has_expire_time()
                    ? std::string(google::protobuf::util::TimeUtil::ToString(lease.expire_time()))
                    : "",
                lease.sequence()});
  invocation.Print({.messages = {&lease}, .table = std::move(table)});
}

bool IsFolded(const Invocation& invocation, const v1::AccountantReading& reading) {
  return invocation.IsForPeople() && !invocation.IsWide() && !reading.has_guarantee() &&
         reading.accountant() != v1::Accountant::BEST;
}

std::string FoldedText(const Invocation& invocation,
                       const google::protobuf::RepeatedPtrField<v1::AccountantReading>& readings) {
  std::vector<std::string> names;
  std::vector<std::string> lines;
  for (const v1::AccountantReading& reading : readings) {
    if (IsFolded(invocation, reading)) {
      names.push_back(v1::Accountant::Kind_Name(reading.accountant()));
    } else if (!reading.has_guarantee() && !invocation.IsWide()) {
      lines.push_back(absl::StrCat(v1::Accountant::Kind_Name(reading.accountant()),
                                   " has no answer: ", reading.reason_unavailable(), "."));
    }
  }
  if (!names.empty()) {
    lines.push_back(
        absl::StrCat("No answer from ", absl::StrJoin(names, ", "), " (-o wide says why)."));
  }
  return absl::StrJoin(lines, "\n");
}

void PrintReadings(Invocation& invocation,
                   const google::protobuf::RepeatedPtrField<v1::AccountantReading>& readings) {
  constexpr char kWhy[] = "theorem or why there is none";
  Table table({"accountant", "epsilon", "lower", "kind", kWhy});
  table.OnlyWide({kWhy});
  std::vector<const google::protobuf::Message*> messages;
  for (const v1::AccountantReading& reading : readings) {
    messages.push_back(&reading);
    if (IsFolded(invocation, reading)) continue;
    const v1::Guarantee& guarantee = reading.guarantee();
    table.AddRow(
        {v1::Accountant::Kind_Name(reading.accountant()),
         guarantee.has_upper() ? TableCell(guarantee.upper(), Rounding::kUp) : TableCell(""),
         guarantee.has_lower() ? TableCell(guarantee.lower(), Rounding::kDown) : TableCell(""),
         reading.has_guarantee() ? v1::Guarantee::Kind_Name(guarantee.kind()) : "",
         reading.has_guarantee() ? guarantee.theorem() : reading.reason_unavailable()});
  }
  invocation.Print({.messages = std::move(messages),
                    .is_list = true,
                    .table = std::move(table),
                    .summary = FoldedText(invocation, readings)});
}

std::string GrantText(const google::protobuf::RepeatedPtrField<v1::Grant>& grants) {
  std::string text;
  for (const v1::Grant& grant : grants) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", grant.resource());
    if (grant.methods().empty()) continue;
    std::string methods;
    for (const std::string& method : grant.methods()) {
      absl::StrAppend(&methods, methods.empty() ? "" : ", ", method.substr(method.find('.') + 1));
    }
    absl::StrAppend(&text, " (", methods, ")");
  }
  return text;
}

}  // namespace epsledger::cli
