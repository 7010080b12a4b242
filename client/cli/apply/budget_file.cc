#include "client/cli/apply/budget_file.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cli/apply/yaml_json.h"
#include "client/cli/flags/resource_file.h"
#include "client/cli/flags/resource_name.h"
#include "proto/bridge/json_message.h"

namespace epsledger::cli {
namespace {

absl::StatusOr<v1::Budget> ReadBudget(const std::string& json) {
  v1::Budget read;
  RETURN_IF_ERROR(bridge::ReadJsonObject(json, &read));
  if (read.name().empty()) {
    return absl::InvalidArgumentError("name: got none, want for example adult");
  }
  v1::Budget budget = read;
  ClearWhatTheServerSets(&budget);
  ASSIGN_OR_RETURN(*budget.mutable_name(), BudgetName(read.name()));
  if (!read.parent().empty()) {
    ASSIGN_OR_RETURN(*budget.mutable_parent(), BudgetName(read.parent()));
  }
  budget.set_state(read.state());
  if (read.has_approval_policy()) *budget.mutable_approval_policy() = read.approval_policy();
  return budget;
}

// Moves a budget to the end of `sorted`, after those above it.
class ParentsFirst {
 public:
  explicit ParentsFirst(std::vector<v1::Budget> budgets) : budgets_(std::move(budgets)) {
    for (size_t i = 0; i < budgets_.size(); ++i) places_.emplace(budgets_[i].name(), i);
  }

  absl::StatusOr<std::vector<v1::Budget>> Sort() {
    marks_.assign(budgets_.size(), Mark::kNew);
    for (size_t i = 0; i < budgets_.size(); ++i) RETURN_IF_ERROR(Visit(i));
    return std::move(sorted_);
  }

 private:
  enum class Mark { kNew, kOpen, kDone };

  // Follows the parents upwards, and takes them downwards.
  absl::Status Visit(size_t i) {
    std::vector<size_t> chain;
    while (marks_[i] == Mark::kNew) {
      marks_[i] = Mark::kOpen;
      chain.push_back(i);
      const auto parent = places_.find(budgets_[i].parent());
      if (parent == places_.end()) break;
      i = parent->second;
      if (marks_[i] == Mark::kOpen) {
        return absl::InvalidArgumentError(
            absl::StrCat(budgets_[i].name(), ".parent: got one that is below it"));
      }
    }
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      marks_[*it] = Mark::kDone;
      sorted_.push_back(budgets_[*it]);
    }
    return absl::OkStatus();
  }

  std::vector<v1::Budget> budgets_;
  std::map<std::string, size_t> places_;
  std::vector<Mark> marks_;
  std::vector<v1::Budget> sorted_;
};

}  // namespace

absl::StatusOr<std::vector<v1::Budget>> ReadBudgets(const std::string& text) {
  ASSIGN_OR_RETURN(const std::vector<YamlElement> elements, ReadYamlList(text, "budgets"));
  std::vector<v1::Budget> budgets;
  std::map<std::string, int> lines;
  for (const YamlElement& element : elements) {
    absl::StatusOr<v1::Budget> budget = ReadBudget(element.json);
    if (!budget.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", element.line, ": ", std::string(budget.status().message())));
    }
    const auto [first, is_new] = lines.emplace(budget->name(), element.line);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrCat("line ", element.line, ": name: got ",
                                                     budget->name(), ", which is in line ",
                                                     first->second, " already"));
    }
    budgets.push_back(*std::move(budget));
  }
  return ParentsFirst(std::move(budgets)).Sort();
}

}  // namespace epsledger::cli
