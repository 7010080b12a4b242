#include "accounting/question.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr Interval kLogProbability{-kInfinity, 0, true, true};
// 1 and +inf are the limits from inside.
constexpr Interval kAnyRenyiOrder{1, kInfinity, true, true};
constexpr Interval kHalf{0, 0.5, false, false};

absl::Status CheckEnum(const std::string& field, int value, int first, int last) {
  if (value >= first && value <= last) return absl::OkStatus();
  return OutOfDomain(field, absl::StrCat(value), "a value that is defined");
}

struct QueryCheck {
  absl::Status operator()(const EpsilonAtDelta& q) const {
    if (q.given_delta.has_value()) {
      return CheckInterval("query.epsilonAtDelta", *q.given_delta, kProbability);
    }
    return CheckInterval("query.epsilonAtLogDelta", q.log_delta, kLogProbability);
  }
  absl::Status operator()(const DeltaAtEpsilon& q) const {
    return CheckInterval("query.deltaAtEpsilon", q.epsilon, kFinite);
  }
  absl::Status operator()(const RenyiDivergenceAtOrder& q) const {
    return CheckInterval("query.renyiDivergenceAtOrder", q.order, kAnyRenyiOrder);
  }
  absl::Status operator()(const TypeTwoErrorAt& q) const {
    return CheckInterval("query.typeTwoErrorAt", q.type_one_error, kProbability);
  }
  absl::Status operator()(const InverseTypeTwoErrorAt& q) const {
    return CheckInterval("query.inverseTypeTwoErrorAt", q.type_two_error, kProbability);
  }
  absl::Status operator()(const Advantage&) const { return absl::OkStatus(); }
  absl::Status operator()(const GaussianDpMu& q) const {
    return CheckInterval("query.gaussianDpMu.alphaMin", q.alpha_min, kHalf);
  }
  absl::Status operator()(const CentralLimit& q) const {
    if (!q.type_one_error.has_value()) return absl::OkStatus();
    return CheckInterval("query.centralLimit.typeOneError", *q.type_one_error, kProbability);
  }
  absl::Status operator()(const Calibrate& q) const {
    if (q.mu.has_value() && q.operating_point.has_value()) {
      return OutOfDomain("query.calibrate", "both mu and operatingPoint", "at most one of them");
    }
    if (q.mu.has_value()) {
      RETURN_IF_ERROR(CheckInterval("query.calibrate.mu", *q.mu, kNonNegative));
    } else if (q.operating_point.has_value()) {
      RETURN_IF_ERROR(CheckInterval("query.calibrate.operatingPoint.falsePositiveRate",
                                    q.operating_point->false_positive_rate, kProbability));
      RETURN_IF_ERROR(CheckInterval("query.calibrate.operatingPoint.truePositiveRate",
                                    q.operating_point->true_positive_rate, kProbability));
    } else {
      RETURN_IF_ERROR(CheckInterval("query.calibrate.epsilon", q.epsilon, kNonNegative));
      RETURN_IF_ERROR(CheckInterval("query.calibrate.delta", q.delta, kProbability));
    }
    return CheckEnum("query.calibrate.variable", static_cast<int>(q.variable), 1, 3);
  }
  absl::Status operator()(const TruePositiveRateAt& q) const {
    return CheckInterval("query.truePositiveRateAt", q.false_positive_rate, kProbability);
  }
  absl::Status operator()(const BayesSuccessAt& q) const {
    return CheckInterval("query.bayesSuccessAt", q.prior, kOpenProbability);
  }
  absl::Status operator()(const ReconstructionSuccessAt& q) const {
    return CheckInterval("query.reconstructionSuccessAt", q.baseline, kProbability);
  }
};

}  // namespace

EpsilonAtDelta EpsilonAtDelta::FromDelta(double delta) {
  EpsilonAtDelta query;
  query.given_delta = delta;
  query.log_delta = delta == 1 ? 0 : RoundDown(std::log(delta), 1);
  return query;
}

bool EpsilonAtDelta::Allows(double delta) const {
  if (given_delta.has_value()) return delta <= *given_delta;
  return delta == 0 || RoundUp(std::log(delta), 1) <= log_delta;
}

absl::Status Validate(Accountant accountant) {
  return CheckEnum("accountant", static_cast<int>(accountant), 1, 13);
}

absl::Status Validate(const Query& query) { return std::visit(QueryCheck(), query); }

absl::Status ValidateDirection(const std::optional<Adjacency>& adjacency, const Query& query) {
  const bool has_none = std::holds_alternative<BayesSuccessAt>(query) ||
                        std::holds_alternative<ReconstructionSuccessAt>(query);
  if (!adjacency.has_value() || !has_none) return absl::OkStatus();
  return OutOfDomain("adjacency", *adjacency == Adjacency::kAdd ? "ADD" : "REMOVE",
                     "nothing: the query is one number for both directions");
}

absl::Status Validate(const Question& question) {
  RETURN_IF_ERROR(Validate(question.accountant));
  RETURN_IF_ERROR(CheckEnum("neighboringRelation", static_cast<int>(question.relation), 1, 3));
  if (question.adjacency.has_value()) {
    const int adjacency = static_cast<int>(*question.adjacency);
    RETURN_IF_ERROR(CheckEnum("adjacency", adjacency, 1, 2));
    if (question.relation != NeighboringRelation::kAddOrRemoveOne) {
      return OutOfDomain("adjacency", *question.adjacency == Adjacency::kAdd ? "ADD" : "REMOVE",
                         "nothing: only add-or-remove-one has directions");
    }
  }
  RETURN_IF_ERROR(
      CheckEnum("sensitivityRelation", static_cast<int>(question.sensitivity_relation), 1, 2));
  if (question.sensitivity_relation == SensitivityRelation::kReplaceOne &&
      question.relation != NeighboringRelation::kReplaceOne) {
    return OutOfDomain(
        "sensitivityRelation", "REPLACE_ONE",
        "CONTRIBUTION, or neighboringRelation REPLACE_ONE: how far apart two records "
        "are says nothing of a record that is added or removed");
  }
  for (size_t i = 0; i < question.events.size(); ++i) {
    RETURN_IF_ERROR(Validate(question.events[i], absl::StrCat("events[", i, "]")));
  }
  RETURN_IF_ERROR(Validate(question.query));
  RETURN_IF_ERROR(ValidateDirection(question.adjacency, question.query));
  RETURN_IF_ERROR(CheckInterval("relativeWidth", question.relative_width, kOpenProbability));
  RETURN_IF_ERROR(CheckRange("groupSize", question.group_size, 1, kMaxEventCount));
  if (question.advanced_delta_slack.has_value()) {
    return CheckInterval("advancedDeltaSlack", *question.advanced_delta_slack, kOpenProbability);
  }
  return absl::OkStatus();
}

Setting SettingOf(const Question& question) {
  return Setting{question.relation, question.adjacency, question.sensitivity_relation};
}

}  // namespace epsledger::accounting
