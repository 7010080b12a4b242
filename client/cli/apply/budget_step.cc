#include "client/cli/apply/budget_step.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/cap_flags.h"
#include "client/cli/flags/resource_name.h"

namespace epsledger::cli {
namespace {

using Labels = std::map<std::string, std::string>;

Labels LabelsOf(const v1::Budget& budget) {
  return Labels(budget.labels().begin(), budget.labels().end());
}

std::string LabelsText(const v1::Budget& budget) {
  return budget.labels().empty() ? "none"
                                 : absl::StrJoin(LabelsOf(budget), ", ", absl::PairFormatter("="));
}

std::string ThresholdsText(const v1::Budget& budget) {
  return budget.alert_thresholds().empty() ? "none"
                                           : absl::StrJoin(budget.alert_thresholds(), ", ");
}

std::string GuardedText(const v1::Budget& budget) {
  std::set<std::string> names;
  for (const int change : budget.approval_policy().guarded()) {
    names.insert(v1::ApprovalPolicy::Change_Name(static_cast<v1::ApprovalPolicy::Change>(change)));
  }
  return names.empty() ? "nothing" : absl::StrJoin(names, ", ");
}

// The file's budget as a request may carry it.
v1::Budget WithoutWhatRequestsLack(const v1::Budget& wanted) {
  v1::Budget budget = wanted;
  budget.clear_name();
  budget.clear_state();
  budget.clear_approval_policy();
  return budget;
}

void Guard(const v1::Budget& wanted, BudgetStep* step) {
  step->guard.emplace();
  step->guard->set_name(wanted.name());
  *step->guard->mutable_policy() = wanted.approval_policy();
}

BudgetStep CreateStep(const v1::Budget& wanted) {
  BudgetStep step{.name = wanted.name()};
  if (wanted.state() != v1::Budget::STATE_UNSPECIFIED && wanted.state() != v1::Budget::ACTIVE) {
    step.conflict = absl::StrCat("state: got ", v1::Budget::State_Name(wanted.state()),
                                 " for a budget that does not exist, want none");
  }
  step.create.emplace();
  step.create->set_budget_id(LastSegment(wanted.name()));
  *step.create->mutable_budget() = WithoutWhatRequestsLack(wanted);
  step.changes.push_back(DescribeCap(wanted.cap()));
  if (!wanted.approval_policy().guarded().empty()) {
    Guard(wanted, &step);
    step.changes.push_back(absl::StrCat("guarded: ", GuardedText(wanted)));
  }
  return step;
}

// Adds a path to the update.
void Update(const char* path, const std::string& before, const std::string& after,
            BudgetStep* step) {
  step->changes.push_back(absl::StrCat(path, ": ", before, " -> ", after));
  if (!step->update) step->update.emplace();
  step->update->mutable_update_mask()->add_paths(path);
}

bool HaveEqualThresholds(const v1::Budget& a, const v1::Budget& b) {
  return std::equal(a.alert_thresholds().begin(), a.alert_thresholds().end(),
                    b.alert_thresholds().begin(), b.alert_thresholds().end());
}

void CompareWhatMayChange(const v1::Budget& wanted, const v1::Budget& existing, BudgetStep* step) {
  if (wanted.display_name() != existing.display_name()) {
    Update("display_name", absl::StrCat("\"", existing.display_name(), "\""),
           absl::StrCat("\"", wanted.display_name(), "\""), step);
  }
  if (LabelsOf(wanted) != LabelsOf(existing)) {
    Update("labels", LabelsText(existing), LabelsText(wanted), step);
  }
  if (!HaveEqualThresholds(wanted, existing)) {
    Update("alert_thresholds", ThresholdsText(existing), ThresholdsText(wanted), step);
  }
  if (!step->update) return;
  v1::Budget& budget = *step->update->mutable_budget();
  budget.set_name(wanted.name());
  budget.set_display_name(wanted.display_name());
  *budget.mutable_labels() = wanted.labels();
  *budget.mutable_alert_thresholds() = wanted.alert_thresholds();
}

void CompareStates(const v1::Budget& wanted, const v1::Budget& existing, BudgetStep* step) {
  const std::string name = ShortName(existing.name());
  const std::string why =
      existing.state_reason().empty() ? "" : absl::StrCat(" (", existing.state_reason(), ")");
  if (existing.state() == v1::Budget::SUPERSEDED && wanted.state() != v1::Budget::SUPERSEDED) {
    step->conflict =
        absl::StrCat("was superseded", why, " by ", ShortName(existing.superseded_by()),
                     ": put that budget into the file in its place");
  } else if (existing.state() == v1::Budget::CLOSED && wanted.state() != v1::Budget::CLOSED) {
    step->conflict = absl::StrCat("was closed for good", why, ": take it out of the file");
  } else if (existing.state() == v1::Budget::FROZEN && wanted.state() != v1::Budget::FROZEN) {
    step->drift = absl::StrCat("is frozen", why, ": `epsctl budget thaw ", name, "` ends it");
  } else if (wanted.state() != v1::Budget::STATE_UNSPECIFIED &&
             wanted.state() != existing.state()) {
    step->drift = absl::StrCat("is ", v1::Budget::State_Name(existing.state()), ", want ",
                               v1::Budget::State_Name(wanted.state()),
                               ": `epsctl budget freeze` and `close` take a reason");
  }
}

}  // namespace

BudgetStep StepTo(const v1::Budget& wanted, const v1::Budget* existing) {
  if (existing == nullptr) return CreateStep(wanted);
  BudgetStep step{.name = wanted.name()};
  CompareWhatMayChange(wanted, *existing, &step);
  if (wanted.has_approval_policy() && GuardedText(wanted) != GuardedText(*existing)) {
    Guard(wanted, &step);
    step.changes.push_back(
        absl::StrCat("guarded: ", GuardedText(*existing), " -> ", GuardedText(wanted)));
  }
  CompareStates(wanted, *existing, &step);
  return step;
}

v1::CreateBudgetRequest SameBudgetRequest(const v1::Budget& wanted, const v1::Budget& existing) {
  v1::CreateBudgetRequest request;
  request.set_validate_only(true);
  request.set_budget_id(LastSegment(wanted.name()));
  v1::Budget& budget = *request.mutable_budget();
  budget = WithoutWhatRequestsLack(wanted);
  budget.set_display_name(existing.display_name());
  *budget.mutable_labels() = existing.labels();
  *budget.mutable_alert_thresholds() = existing.alert_thresholds();
  return request;
}

}  // namespace epsledger::cli
