#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/util/time_util.h>

#include "client/cli/commands/commands.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cli/print/table.h"

namespace epsledger::cli {
namespace {

constexpr int kMostRefusals = 100;

std::string TimeText(const google::protobuf::Timestamp& time) {
  return google::protobuf::util::TimeUtil::ToString(time);
}

void AddRefusal(int64_t sequence, const std::string& name, const std::string& asked,
                const v1::Refusal& refusal, const google::protobuf::Timestamp& time, Table* table) {
  table->AddRow({sequence, NameCell(name), asked,
                 TableCell(v1::Refusal::Reason_Name(refusal.reason())).In(Tone::kBad),
                 NameCell(refusal.limiting_resource()), refusal.remedy(), TimeText(time)});
}

void ListRefusals(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::ListRefusalsRequest request;
  request.set_parent(*name);
  request.set_page_size(kMostRefusals);
  const auto page =
      invocation.Call(&Connection::charges, &v1::ChargeService::StubInterface::ListRefusals,
                      request, CallKind::kRead);
  if (page == nullptr) return;
  Table table({"sequence", "name", "asked for", "reason", "limited by", "remedy", "time"});
  table.OnlyWide({"remedy"}).IfRoom({"limited by", "time"}).MayCut({"asked for"});
  std::vector<const google::protobuf::Message*> messages;
  for (const v1::Charge& charge : page->charges()) {
    messages.push_back(&charge);
    AddRefusal(charge.sequence(), charge.name(),
               std::to_string(charge.count()) + " x " + DescribeEvent(charge), charge.refusal(),
               charge.create_time(), &table);
  }
  for (const v1::LedgerChange& change : page->refused_sessions()) {
    messages.push_back(&change);
    AddRefusal(change.sequence(), change.refused_session().name(), "to open the session",
               change.refused_session().refusal(), change.time(), &table);
  }
  invocation.Print({.messages = std::move(messages), .is_list = true, .table = std::move(table)});
}

}  // namespace

void AddBudgetRefusals(CLI::App& budget, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  CLI::App* refusals = budget.add_subcommand(
      "refusals", "List the newest charges and sessions that were refused below a budget, and why");
  refusals->fallthrough();
  refusals->add_option("budget", *name, "BUDGET or budgets/BUDGET")->required();
  refusals->footer("Example:\n  epsctl budget refusals adult -o wide");
  refusals->callback([&invocation, name] { ListRefusals(invocation, *name); });
}

}  // namespace epsledger::cli
