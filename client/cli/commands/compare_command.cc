#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/history_flags.h"
#include "client/cli/print/answers.h"
#include "proto/bridge/accountant_readings.h"

namespace epsledger::cli {
namespace {

struct CompareFlags {
  HistoryFlags history;
  double delta = 0;
};

// The notes on one row that a reader must not miss.
std::string Note(const v1::AccountantReading& reading, v1::Accountant::Kind winner) {
  const v1::Guarantee& guarantee = reading.guarantee();
  if (!reading.has_guarantee()) return "no answer";
  std::string note;
  if (reading.accountant() == v1::Accountant::BEST) {
    if (guarantee.accountant() != v1::Accountant::BEST) {
      note = absl::StrCat("won by ", v1::Accountant::Kind_Name(guarantee.accountant()));
    }
  } else if (reading.accountant() == winner) {
    note = "winner";
  } else if (guarantee.kind() == v1::Guarantee::APPROXIMATION) {
    note = "not a bound";
  }
  if (guarantee.contains_unverified_claim()) {
    absl::StrAppend(&note, note.empty() ? "" : ", ", "unverified claim");
  }
  return note;
}

Table ComparisonTable(const Invocation& invocation,
                      const v1::CompareAccountantsResponse& comparison) {
  constexpr char kWhy[] = "theorem, or why there is no answer";
  Table table({"accountant", "epsilon upper", "epsilon lower", "kind", "order", "note", kWhy});
  table.OnlyWide({kWhy}).IfRoom({"kind", "order"});
  for (const v1::AccountantReading& reading : comparison.readings()) {
    if (IsFolded(invocation, reading)) continue;
    const v1::Guarantee& guarantee = reading.guarantee();
    table.AddRow(
        {v1::Accountant::Kind_Name(reading.accountant()),
         guarantee.has_upper() ? TableCell(guarantee.upper(), Rounding::kUp) : TableCell(""),
         guarantee.has_lower() ? TableCell(guarantee.lower(), Rounding::kDown) : TableCell(""),
         reading.has_guarantee() ? v1::Guarantee::Kind_Name(guarantee.kind()) : "",
         guarantee.has_order() ? TableCell(guarantee.order(), Rounding::kDown) : TableCell(""),
         Note(reading, comparison.winner()),
         reading.has_guarantee() ? guarantee.theorem() : reading.reason_unavailable()});
  }
  return table;
}

// The tightest statement of the table, in words.
std::string Summary(const CompareFlags& flags, const v1::CompareAccountantsResponse& comparison) {
  for (const v1::AccountantReading& reading : comparison.readings()) {
    if (reading.accountant() != comparison.winner()) continue;
    return absl::StrCat(v1::Accountant::Kind_Name(comparison.winner()), " wins: (",
                        RoundedNumber(reading.guarantee().upper(), Rounding::kUp), ", ",
                        ExactNumber(flags.delta), ")-DP under ", flags.history.DescribeNeighbors(),
                        ".");
  }
  return "Nobody wins.";
}

void Compare(Invocation& invocation, const CompareFlags& flags) {
  v1::CompareAccountantsRequest request;
  absl::Status status = flags.history.Fill(invocation.terminal().in, &request);
  if (!status.ok()) return invocation.FailOffline(status);
  request.set_delta(flags.delta);
  auto question = bridge::ToQuestion(request);
  if (!question.ok()) return invocation.FailOffline(question.status());
  const absl::StatusOr<v1::CompareAccountantsResponse> comparison =
      bridge::CompareAccountants(*std::move(question), [] { return false; });
  if (!comparison.ok()) return invocation.FailOffline(comparison.status());
  std::string summary = FoldedText(invocation, comparison->readings());
  absl::StrAppend(&summary, summary.empty() ? "" : "\n", Summary(flags, *comparison));
  std::vector<const google::protobuf::Message*> readings;
  for (const v1::AccountantReading& reading : comparison->readings()) readings.push_back(&reading);
  invocation.Print({.messages = std::move(readings),
                    .is_list = true,
                    .table = ComparisonTable(invocation, *comparison),
                    .whole = &*comparison,
                    .summary = std::move(summary)});
  const v1::AccountantReading& best = comparison->readings(comparison->readings_size() - 1);
  if (!best.has_guarantee()) {
    invocation.FailOffline(absl::UnimplementedError(best.reason_unavailable()));
  }
}

}  // namespace

void AddCompareCommand(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* compare = app.add_subcommand(
      "compare", "Epsilon of one history under every accountant, and who wins; needs no server");
  compare->fallthrough();
  flags->history.AddTo(*compare);
  compare->add_option("--delta", flags->delta, "in (0, 1)")->type_name("DELTA")->required();
  compare->footer(
      "One row for each accountant: its bounds on epsilon, what kind of number they are and the\n"
      "Renyi order that was used; with -o wide also the theorem, or why it cannot answer. BEST is\n"
      "the smallest proved upper bound; an APPROXIMATION (CLT) is shown and never wins. Upper\n"
      "bounds are rounded up, lower bounds down; csv and json have every digit.\n"
      "Examples:\n"
      "  epsctl compare --gaussian 1.1 --sampling-probability 0.01 --count 1000 --delta 1e-5\n"
      "  epsctl compare --events history.jsonl --delta 1e-6 --relation replace-one\n"
      "  epsctl compare --gaussian 40 --count 100 --delta 1e-5 -o csv");
  compare->callback([&invocation, flags] { Compare(invocation, *flags); });
}

}  // namespace epsledger::cli
