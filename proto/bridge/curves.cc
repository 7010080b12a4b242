#include "proto/bridge/curves.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"
#include "accounting/question.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/guarantee_convert.h"
#include "proto/bridge/history_convert.h"

namespace epsledger::bridge {
namespace {

using accounting::CheckInterval;
using accounting::Interval;
using accounting::OutOfDomain;

// Returns the points of a range, with first and last exactly as given.
absl::StatusOr<std::vector<double>> Expand(const std::string& field, const v1::PointRange& range,
                                           const Interval& domain) {
  absl::Status status = CheckInterval(
      absl::StrCat(field, ".first"), range.first(),
      range.logarithmic() ? Interval{0, domain.upper, false, domain.upper_closed} : domain);
  if (status.ok()) status = CheckInterval(absl::StrCat(field, ".last"), range.last(), domain);
  if (!status.ok()) return status;
  if (!(range.first() < range.last())) {
    return OutOfDomain(absl::StrCat(field, ".last"), accounting::FormatDouble(range.last()),
                       absl::StrCat("above first, ", accounting::FormatDouble(range.first())));
  }
  status = accounting::CheckRange(absl::StrCat(field, ".count"), range.count(), 2, kMaxCurvePoints);
  if (!status.ok()) return status;
  std::vector<double> points;
  const double steps = range.count() - 1;
  for (int i = 0; i < range.count(); ++i) {
    // Rounds only once, at the end, if the ends are whole numbers: 0.15 and not
    // 0.15000000000000002.
    double point = (range.first() * (steps - i) + range.last() * i) / steps;
    if (!std::isfinite(point)) {
      point = range.first() * ((steps - i) / steps) + range.last() * (i / steps);
    }
    if (range.logarithmic()) {
      point =
          std::exp((std::log(range.first()) * (steps - i) + std::log(range.last()) * i) / steps);
    }
    points.push_back(std::clamp(point, range.first(), range.last()));
  }
  points.front() = range.first();
  points.back() = range.last();
  return points;
}

// Reads the fields that both requests share. `list` and `range` are named as in proto3 JSON.
template <class Request>
absl::StatusOr<CurveQuestion> ToCurveQuestion(const Request& request, const std::string& list_field,
                                              const google::protobuf::RepeatedField<double>& list,
                                              const std::string& range_field,
                                              const v1::PointRange* range, const Interval& domain) {
  CurveQuestion curve;
  if (request.accountant() != v1::Accountant::KIND_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const accounting::Accountant accountant,
                     FromProto(request.accountant(), "accountant"));
    curve.question.accountant = accountant;
  }
  absl::Status status = ReadHistory(HistoryOf(request), &curve.question);
  if (!status.ok()) return status;
  curve.question.query = accounting::Advantage{};
  status = accounting::Validate(curve.question);
  if (!status.ok()) return status;

  if (list.empty() == (range == nullptr)) {
    return OutOfDomain(list_field,
                       list.empty() ? absl::StrCat("neither points nor ", range_field)
                                    : absl::StrCat("points and ", range_field),
                       "one of the two");
  }
  if (range != nullptr) {
    ASSIGN_OR_RETURN(std::vector<double> points, Expand(range_field, *range, domain));
    curve.at = std::move(points);
    return curve;
  }
  if (list.size() > kMaxCurvePoints) {
    return OutOfDomain(list_field, absl::StrCat(list.size(), " points"),
                       absl::StrCat("at most ", kMaxCurvePoints));
  }
  for (int i = 0; i < list.size(); ++i) {
    status = CheckInterval(absl::StrCat(list_field, "[", i, "]"), list[i], domain);
    if (!status.ok()) return status;
  }
  curve.at.assign(list.begin(), list.end());
  return curve;
}

// Asks the question at every point. `query_at` makes the query for a point; `add` takes its answer.
template <class QueryAt, class Add>
absl::Status AskEach(const CurveQuestion& curve, absl::FunctionRef<bool()> abandoned,
                     const QueryAt& query_at, const Add& add) {
  ASSIGN_OR_RETURN(accounting::ComposedHistory history,
                   accounting::ComposedHistory::Create(curve.question));
  for (const double x : curve.at) {
    if (abandoned()) return absl::CancelledError("nobody waits for the curve any more");
    ASSIGN_OR_RETURN(const accounting::Guarantee answer, history.Ask(query_at(x)));
    add(x, answer);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CurveQuestion> ToQuestion(const v1::GetPrivacyProfileRequest& request) {
  return ToCurveQuestion(request, "epsilons", request.epsilons(), "epsilonRange",
                         request.has_epsilon_range() ? &request.epsilon_range() : nullptr,
                         accounting::kFinite);
}

absl::StatusOr<CurveQuestion> ToQuestion(const v1::GetTradeOffCurveRequest& request) {
  return ToCurveQuestion(
      request, "typeOneErrors", request.type_one_errors(), "typeOneErrorRange",
      request.has_type_one_error_range() ? &request.type_one_error_range() : nullptr,
      accounting::kProbability);
}

absl::StatusOr<v1::GetPrivacyProfileResponse> PrivacyProfile(const CurveQuestion& question,
                                                             absl::FunctionRef<bool()> abandoned) {
  v1::GetPrivacyProfileResponse response;
  RETURN_IF_ERROR(AskEach(
      question, abandoned, [](double epsilon) { return accounting::DeltaAtEpsilon{epsilon}; },
      [&](double epsilon, const accounting::Guarantee& delta) {
        v1::PrivacyProfilePoint* point = response.add_points();
        point->set_epsilon(epsilon);
        ToProto(delta, point->mutable_delta());
      }));
  return response;
}

absl::StatusOr<v1::GetTradeOffCurveResponse> TradeOffCurve(const CurveQuestion& question,
                                                           absl::FunctionRef<bool()> abandoned) {
  v1::GetTradeOffCurveResponse response;
  RETURN_IF_ERROR(AskEach(
      question, abandoned,
      [](double type_one_error) { return accounting::TypeTwoErrorAt{type_one_error}; },
      [&](double type_one_error, const accounting::Guarantee& type_two_error) {
        v1::TradeOffPoint* point = response.add_points();
        point->set_type_one_error(type_one_error);
        ToProto(type_two_error, point->mutable_type_two_error());
        if (type_two_error.lower.has_value()) {
          point->set_true_positive_rate_upper(accounting::OneMinusUp(*type_two_error.lower));
        }
        if (type_two_error.upper.has_value()) {
          point->set_true_positive_rate_lower(accounting::OneMinusDown(*type_two_error.upper));
        }
      }));
  return response;
}

}  // namespace epsledger::bridge
