#include "server/core/proposal.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace epsledger::core {
namespace {

constexpr char kApprovalRequired[] = "epsledger.dev/approval-required";
constexpr char kSecondPersonRequired[] = "epsledger.dev/second-person-required";

absl::Status MarkedPrecondition(const char* mark, std::string_view message) {
  absl::Status status =
      absl::FailedPreconditionError(absl::string_view(message.data(), message.size()));
  status.SetPayload(mark, absl::Cord());
  return status;
}

// Names that differ only in case are one person's: certificate authorities compare them so (RFC
// 5280, section 7.1).
bool IsSame(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(absl::string_view(a.data(), a.size()),
                                absl::string_view(b.data(), b.size()));
}

bool IsMadeBy(const Person& of, std::string_view maker) {
  return std::any_of(of.makers.begin(), of.makers.end(),
                     [&](const std::string& other) { return IsSame(other, maker); });
}

bool HaveOneMaker(const Person& a, const Person& b) {
  return std::any_of(a.makers.begin(), a.makers.end(),
                     [&](const std::string& maker) { return IsMadeBy(b, maker); });
}

}  // namespace

bool AreTwoPeople(const Person& a, const Person& b) {
  return !IsSame(a.principal, b.principal) && !IsMadeBy(a, b.principal) &&
         !IsMadeBy(b, a.principal) && !HaveOneMaker(a, b) && !IsMadeBy(a, kUnknownMaker) &&
         !IsMadeBy(b, kUnknownMaker);
}

CommandBody CommandFor(const ProposeChange& proposal) {
  return std::visit(
      [&](const auto& change) -> CommandBody {
        using Change = std::decay_t<decltype(change)>;
        if constexpr (std::is_same_v<Change, ProposedChild>) {
          CreateBudget create{.spec = change.spec};
          if (change.reference.has_value()) create.reference = **change.reference;
          create.any_filter = change.any_filter;
          return create;
        } else if constexpr (std::is_same_v<Change, ProposedSuccessor>) {
          return SupersedeBudget{.budget_id = proposal.budget_id,
                                 .successor_id = change.successor_id,
                                 .cap = change.cap,
                                 .reason = proposal.reason,
                                 .any_filter = change.any_filter};
        } else if constexpr (std::is_same_v<Change, ProposedPhase>) {
          return ChangeBudgetPhase{
              .budget_id = proposal.budget_id, .phase = change.phase, .reason = proposal.reason};
        } else {
          return SetApprovalPolicy{.budget_id = proposal.budget_id, .guarded = change.guarded};
        }
      },
      proposal.change);
}

const char* Name(GuardedChange change) {
  switch (change) {
    case GuardedChange::kSupersede:
      return "SUPERSEDE";
    case GuardedChange::kClose:
      return "CLOSE";
    case GuardedChange::kThaw:
      return "THAW";
    case GuardedChange::kLiftQuarantine:
      return "LIFT_QUARANTINE";
  }
  return "UNKNOWN_CHANGE";
}

std::string Describe(const ProposedChange& change) {
  return std::visit(
      [](const auto& what) -> std::string {
        using Change = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<Change, ProposedChild>) {
          return absl::StrCat("create ", what.spec.id, " below it: ", Describe(what.spec.cap));
        } else if constexpr (std::is_same_v<Change, ProposedSuccessor>) {
          return absl::StrCat("supersede it by ", what.successor_id, ": ", Describe(what.cap));
        } else if constexpr (std::is_same_v<Change, ProposedPhase>) {
          return what.phase == BudgetPhase::kClosed ? "close it" : "thaw it";
        } else {
          std::string names;
          for (const GuardedChange guarded : what.guarded) {
            absl::StrAppend(&names, names.empty() ? "" : ", ", Name(guarded));
          }
          return absl::StrCat("guard ", names.empty() ? "nothing" : names);
        }
      },
      change);
}

absl::Status ApprovalRequired(std::string_view message) {
  return MarkedPrecondition(kApprovalRequired, message);
}
bool IsApprovalRequired(const absl::Status& status) {
  return status.GetPayload(kApprovalRequired).has_value();
}

absl::Status SecondPersonRequired(std::string_view message) {
  return MarkedPrecondition(kSecondPersonRequired, message);
}
bool IsSecondPersonRequired(const absl::Status& status) {
  return status.GetPayload(kSecondPersonRequired).has_value();
}

}  // namespace epsledger::core
