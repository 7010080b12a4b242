// What alerts say.

#include <algorithm>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/alerts/rules/alert_rules.h"
#include "client/alerts/rules/refused.h"
#include "epsledger/rounded_number.h"

namespace epsledger::alerts {
namespace {

using google::protobuf::util::TimeUtil;

constexpr int64_t kMicrosPerMinute = 60'000'000;
constexpr int64_t kMinutesPerHour = 60;
constexpr int kShareDigits = 4;

// "80 %".
std::string Percent(double threshold) { return absl::StrFormat("%.6g %%", 100 * threshold); }

// "26 h", "5 min".
std::string HowLong(int64_t micros) {
  const int64_t minutes = std::max<int64_t>(0, micros / kMicrosPerMinute);
  if (minutes < 2 * kMinutesPerHour) return absl::StrCat(minutes, " min");
  return absl::StrCat(minutes / kMinutesPerHour, " h");
}

// What the proposal would do, in words.
std::string ChangeOf(const v1::Proposal& proposal) {
  switch (proposal.change_case()) {
    case v1::Proposal::kCreateChild:
      return absl::StrCat("create the budget ", proposal.create_child().budget_id());
    case v1::Proposal::kSupersede:
      return absl::StrCat("replace the budget by ", proposal.supersede().successor_id());
    case v1::Proposal::kClose:
      return "close the budget";
    case v1::Proposal::kThaw:
      return "thaw the budget";
    case v1::Proposal::kSetApprovalPolicy:
      return "set the approval policy";
    case v1::Proposal::CHANGE_NOT_SET:
      break;
  }
  return "make a change that this program does not know";
}

void AddCell(const v1::CellBalance& cell, Alert* alert) {
  alert->facts.emplace_back("quantity", v1::CellBalance::Quantity_Name(cell.quantity()));
  alert->facts.emplace_back("cap", ExactNumber(cell.cap()));
  alert->facts.emplace_back("spent", ExactNumber(cell.spent()));
  alert->facts.emplace_back("remaining", ExactNumber(cell.remaining()));
}

}  // namespace

Alert AlertRules::NewAlert(const Rule& rule, const std::string& budget, int64_t time_micros) const {
  Alert alert{.kind = rule.kind,
              .rule = rule.name,
              .time_micros = time_micros,
              .budget = budget,
              .page = budget};
  if (const auto known = known_.find(budget); known != known_.end()) {
    alert.display_name = known->second.display_name;
    alert.labels = known->second.labels;
  }
  return alert;
}

Alert AlertRules::ThresholdAlert(const Rule& rule, const v1::Budget& budget, double from,
                                 double passed, const std::vector<double>& thresholds,
                                 int64_t now_micros) const {
  Alert alert = NewAlert(rule, budget.name(), now_micros);
  alert.id = AlertId({"threshold", rule.name, budget.name(),
                      TimeUtil::ToString(budget.create_time()), ExactNumber(passed)});
  std::vector<std::string> crossed;
  for (const double threshold : thresholds) {
    if (threshold > from && threshold <= passed) crossed.push_back(ExactNumber(threshold));
  }
  alert.title = absl::StrCat(budget.name(), ": ", Percent(passed), " of the cap is spent");
  alert.text =
      absl::StrCat(RoundedNumber(100 * budget.spent_fraction(), Rounding::kUp, kShareDigits),
                   " % of the cap of ", budget.name(), " is spent, by ",
                   budget.accepted_charge_count(), " accepted charges. ",
                   budget.spent_fraction() < 1 ? "When it is spent, the server refuses charges."
                                               : "The server refuses charges.");
  alert.facts = {{"threshold", ExactNumber(passed)},
                 {"thresholdsCrossed", absl::StrJoin(crossed, " ")},
                 {"spentFraction", ExactNumber(budget.spent_fraction())},
                 {"leasedFraction", ExactNumber(budget.leased_fraction())},
                 {"acceptedChargeCount", absl::StrCat(budget.accepted_charge_count())},
                 {"refusedChargeCount", absl::StrCat(budget.refused_charge_count())}};
  return alert;
}

std::optional<AlertRules::Refused> AlertRules::Refused::In(const v1::LedgerChange& change) {
  Refused refused;
  if (change.has_refused_session()) {
    refused.name = change.refused_session().name();
    refused.refusal = change.refused_session().refusal();
    refused.is_plan = true;
  } else if (change.has_charge() && change.charge().decision() == v1::Charge::REFUSED) {
    refused.name = change.charge().name();
    refused.refusal = change.charge().refusal();
  } else {
    return std::nullopt;
  }
  refused.budget = refused.name.substr(0, refused.name.find("/sessions/"));
  refused.reason = v1::Refusal::Reason_Name(refused.refusal.reason());
  // A server that is newer than this program may have reasons without a name here.
  if (refused.reason.empty()) refused.reason = absl::StrCat(refused.refusal.reason());
  refused.sequence = change.sequence();
  refused.time_micros = TimeUtil::TimestampToMicroseconds(change.time());
  return refused;
}

Alert AlertRules::RefusalAlert(const Rule& rule, const Refused& refused, int64_t before) const {
  Alert alert = NewAlert(rule, refused.budget, refused.time_micros);
  alert.id = AlertId({"refusal", rule.name, refused.name, absl::StrCat(refused.sequence),
                      absl::StrCat(refused.time_micros)});
  const v1::Refusal& refusal = refused.refusal;
  alert.title = absl::StrCat(refused.budget, ": a ", refused.is_plan ? "plan" : "charge",
                             " was refused (", refused.reason, ")");
  alert.text = absl::StrCat("The server refused ", refused.name, ": ", refused.reason);
  if (!refusal.limiting_resource().empty()) {
    absl::StrAppend(&alert.text, " at ", refusal.limiting_resource());
  }
  absl::StrAppend(&alert.text, ". ");
  if (!refusal.remedy().empty()) absl::StrAppend(&alert.text, refusal.remedy(), ". ");
  if (refusal.reason() == v1::Refusal::BUDGET_EXHAUSTED) {
    absl::StrAppend(&alert.text,
                    "Single uses of the event that would still fit: ", refusal.steps_that_fit(),
                    ". ");
  }
  if (before > 0) {
    absl::StrAppend(&alert.text, "Since the alert before this one, ", before,
                    " more were refused for the same reason. ");
  }
  absl::StrAppend(&alert.text, "Further ones are counted and told in one alert after at least ",
                  HowLong(rule.repeat_after_micros), ".");
  alert.facts = {{"reason", refused.reason},
                 {refused.is_plan ? "session" : "charge", refused.name},
                 {"limitingResource", refusal.limiting_resource()},
                 {"requested", ExactNumber(refusal.requested())},
                 {"stepsThatFit", absl::StrCat(refusal.steps_that_fit())},
                 {"countedBefore", absl::StrCat(before)},
                 {"sequence", absl::StrCat(refused.sequence)}};
  if (refusal.has_cell()) AddCell(refusal.cell(), &alert);
  alert.page = absl::StrCat(refused.budget, "/refusals");
  return alert;
}

Alert AlertRules::CountedAlert(const Rule& rule, const std::string& budget,
                               const std::string& reason, const Refusals& refusals,
                               int64_t now_micros) const {
  Alert alert = NewAlert(rule, budget, now_micros);
  alert.id = AlertId({"refusals", rule.name, budget, reason, absl::StrCat(refusals.last_sequence),
                      absl::StrCat(refusals.told_micros)});
  alert.title = absl::StrCat(budget, ": ", refusals.counted, " more refused (", reason, ")");
  alert.text = absl::StrCat("Since ", TimeText(refusals.told_micros), " the server refused ",
                            refusals.counted, " more charges or plans of ", budget, " with ",
                            reason, ", the last one being ", refusals.last_name, ".");
  alert.facts = {{"reason", reason},
                 {"count", absl::StrCat(refusals.counted)},
                 {"lastName", refusals.last_name},
                 {"sequence", absl::StrCat(refusals.last_sequence)}};
  alert.page = absl::StrCat(budget, "/refusals");
  return alert;
}

Alert AlertRules::ApprovalAlert(const Rule& rule, const v1::Proposal& proposal,
                                int64_t now_micros) const {
  const std::string budget = proposal.name().substr(0, proposal.name().find("/proposals/"));
  const int64_t created = TimeUtil::TimestampToMicroseconds(proposal.create_time());
  const std::string expires = TimeText(TimeUtil::TimestampToMicroseconds(proposal.expire_time()));
  Alert alert = NewAlert(rule, budget, now_micros);
  alert.id = AlertId({"approval", rule.name, proposal.name(), absl::StrCat(proposal.sequence())});
  alert.title = absl::StrCat(budget, ": a proposal waits for approval");
  alert.text = absl::StrCat(proposal.proposed_by(), " proposed ", HowLong(now_micros - created),
                            " ago to ", ChangeOf(proposal), ", because: ", proposal.reason(),
                            ". Another admin approves or rejects ", proposal.name(),
                            "; it expires at ", expires, ".");
  alert.facts = {
      {"proposal", proposal.name()},          {"sequence", absl::StrCat(proposal.sequence())},
      {"proposedBy", proposal.proposed_by()}, {"reason", proposal.reason()},
      {"createTime", TimeText(created)},      {"expireTime", expires}};
  return alert;
}

}  // namespace epsledger::alerts
