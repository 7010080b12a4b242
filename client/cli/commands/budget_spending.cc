#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cli/print/table.h"

namespace epsledger::cli {
namespace {

// Of the epsilon that the server reads with the days, which is not printed here.
constexpr double kSpendingDelta = 1e-5;
constexpr int kSpendingPageSize = 200;
constexpr int kUsualSpendingDays = 7;
constexpr int kMostSpendingDays = 60;

// What one budget spent.
struct Spending {
  v1::BudgetReading reading;
  double in_days = 0;  // of its cap
};

// Dates are in the order of their texts.
std::map<std::string, double> InOrder(const v1::BudgetReading& reading) {
  const auto& days = reading.activity().spent_by_day();
  return {days.begin(), days.end()};
}

// Returns the share of the cap that was spent on the last `days` days of UTC, today included. What
// a successor took over on its first day is not spent.
double SpentInDays(const v1::BudgetReading& reading, absl::CivilDay today, int days) {
  const std::map<std::string, double> marks = InOrder(reading);
  if (marks.empty()) return 0;
  double before = reading.budget().supersedes().empty() ? 0 : marks.begin()->second;
  for (const auto& [date, spent] : marks) {
    absl::CivilDay day;
    if (absl::ParseCivilTime(date, &day) && day <= today - days) before = spent;
  }
  return std::max(0.0, marks.rbegin()->second - before);
}

void ListSpending(Invocation& invocation, int days) {
  const absl::CivilDay today = absl::ToCivilDay(absl::Now(), absl::UTCTimeZone());
  std::vector<Spending> spendings;
  v1::ListBudgetReadingsRequest request;
  request.set_delta(kSpendingDelta);
  request.set_page_size(kSpendingPageSize);
  do {
    const auto page =
        invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::ListBudgetReadings,
                        request, CallKind::kRead);
    if (page == nullptr) return;
    for (const v1::BudgetReading& reading : page->budgets()) {
      spendings.push_back({reading, SpentInDays(reading, today, days)});
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  std::stable_sort(spendings.begin(), spendings.end(),
                   [](const Spending& a, const Spending& b) { return a.in_days > b.in_days; });
  Table table({"name", absl::StrCat("spent in ", days, " days"), "a day", "spent", "last spent"});
  std::vector<const google::protobuf::Message*> messages;
  for (const Spending& spending : spendings) {
    const std::map<std::string, double> marks = InOrder(spending.reading);
    const size_t taken_over = spending.reading.budget().supersedes().empty() ? 0 : 1;
    table.AddRow({NameCell(spending.reading.budget().name()),
                  TableCell(spending.in_days, Rounding::kUp),
                  TableCell(spending.in_days / days, Rounding::kUp),
                  TableCell(spending.reading.budget().spent_fraction(), Rounding::kUp),
                  marks.size() <= taken_over ? "never" : marks.rbegin()->first});
    messages.push_back(&spending.reading);
  }
  invocation.Print({.messages = std::move(messages), .is_list = true, .table = std::move(table)});
}

}  // namespace

void AddBudgetSpending(CLI::App& budget, Invocation& invocation) {
  auto days = std::make_shared<int>(kUsualSpendingDays);
  CLI::App* spending = budget.add_subcommand(
      "spending", "List what each budget spent of its cap in the last days, the most first");
  spending->fallthrough();
  spending->add_option("--days", *days, "Days of UTC, today included")
      ->check(CLI::Range(1, kMostSpendingDays))
      ->capture_default_str();
  spending->footer("Example:\n  epsctl budget spending --days 30");
  spending->callback([&invocation, days] { ListSpending(invocation, *days); });
}

}  // namespace epsledger::cli
