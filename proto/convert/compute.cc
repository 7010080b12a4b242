#include "proto/convert/compute.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/validation.h"
#include "google/protobuf/util/json_util.h"
#include "proto/convert/enum_convert.h"
#include "proto/convert/guarantee_convert.h"
#include "proto/convert/json_message.h"
#include "proto/convert/json_syntax.h"
#include "proto/convert/mechanism_convert.h"

namespace epsledger::convert {
namespace {

using accounting::CheckInterval;
using accounting::Interval;

constexpr double kMinusInfinity = -accounting::kInfinity;
constexpr Interval kLogProbability{kMinusInfinity, 0, true, true};
constexpr Interval kBelowHalf{0, 0.5, false, false};

absl::Status CheckQueryNumber(const char* field, double value, const Interval& domain) {
  return CheckInterval(absl::StrCat("query.", field), value, domain);
}

absl::StatusOr<accounting::Query> ToQuery(const v1::Query& query) {
  absl::Status status = absl::OkStatus();
  accounting::Query result;
  switch (query.kind_case()) {
    case v1::Query::kEpsilonAtDelta:
      status =
          CheckQueryNumber("epsilonAtDelta", query.epsilon_at_delta(), accounting::kProbability);
      if (status.ok()) result = accounting::EpsilonAtDelta::FromDelta(query.epsilon_at_delta());
      break;
    case v1::Query::kEpsilonAtLogDelta:
      status = CheckQueryNumber("epsilonAtLogDelta", query.epsilon_at_log_delta(), kLogProbability);
      result = accounting::EpsilonAtDelta{query.epsilon_at_log_delta()};
      break;
    case v1::Query::kDeltaAtEpsilon:
      status = CheckQueryNumber("deltaAtEpsilon", query.delta_at_epsilon(), accounting::kFinite);
      result = accounting::DeltaAtEpsilon{query.delta_at_epsilon()};
      break;
    case v1::Query::kRenyiDivergenceAtOrder:
      status = CheckQueryNumber("renyiDivergenceAtOrder", query.renyi_divergence_at_order(),
                                accounting::kRenyiOrder);
      result = accounting::RenyiDivergenceAtOrder{query.renyi_divergence_at_order()};
      break;
    case v1::Query::kTypeTwoErrorAt:
      status =
          CheckQueryNumber("typeTwoErrorAt", query.type_two_error_at(), accounting::kProbability);
      result = accounting::TypeTwoErrorAt{query.type_two_error_at()};
      break;
    case v1::Query::kInverseTypeTwoErrorAt:
      status = CheckQueryNumber("inverseTypeTwoErrorAt", query.inverse_type_two_error_at(),
                                accounting::kProbability);
      result = accounting::InverseTypeTwoErrorAt{query.inverse_type_two_error_at()};
      break;
    case v1::Query::kAdvantage:
      result = accounting::Advantage{};
      break;
    case v1::Query::kGaussianDpMu:
      status =
          CheckQueryNumber("gaussianDpMu.alphaMin", query.gaussian_dp_mu().alpha_min(), kBelowHalf);
      result = accounting::GaussianDpMu{query.gaussian_dp_mu().alpha_min()};
      break;
    case v1::Query::kCentralLimit: {
      accounting::CentralLimit central_limit;
      if (query.central_limit().has_type_one_error()) {
        central_limit.type_one_error = query.central_limit().type_one_error();
        status = CheckQueryNumber("centralLimit.typeOneError", *central_limit.type_one_error,
                                  accounting::kProbability);
      }
      result = central_limit;
      break;
    }
    case v1::Query::kCalibrate: {
      accounting::Calibrate calibrate;
      calibrate.epsilon = query.calibrate().epsilon();
      calibrate.delta = query.calibrate().delta();
      status = CheckQueryNumber("calibrate.epsilon", calibrate.epsilon, accounting::kPositive);
      if (status.ok()) {
        status = CheckQueryNumber("calibrate.delta", calibrate.delta, accounting::kOpenProbability);
      }
      if (status.ok()) {
        const absl::StatusOr<accounting::Calibrate::Variable> variable =
            FromProto(query.calibrate().variable(), "query.calibrate.variable");
        if (variable.ok()) {
          calibrate.variable = *variable;
        } else {
          status = variable.status();
        }
      }
      result = calibrate;
      break;
    }
    case v1::Query::KIND_NOT_SET:
      return absl::InvalidArgumentError(
          "query: unset, want one of epsilonAtDelta, epsilonAtLogDelta, deltaAtEpsilon, "
          "renyiDivergenceAtOrder, typeTwoErrorAt, inverseTypeTwoErrorAt, advantage, "
          "gaussianDpMu, centralLimit, calibrate");
  }
  if (!status.ok()) return status;
  return result;
}

}  // namespace

absl::Status ParseJson(std::string_view line, v1::ComputeRequest* request) {
  request->Clear();
  std::string id;
  absl::Status status = CheckJsonObject(line, &id);
  if (status.ok()) status = ReadJson(line, request);
  if (!status.ok()) {
    request->Clear();
    if (static_cast<int64_t>(id.size()) <= kMaxComputeIdBytes) request->set_id(id);
  }
  return status;
}

absl::StatusOr<accounting::Question> ToQuestion(const v1::ComputeRequest& request) {
  if (static_cast<int64_t>(request.id().size()) > kMaxComputeIdBytes) {
    return accounting::OutOfDomain("id", absl::StrCat(request.id().size(), " bytes"),
                                   absl::StrCat("at most ", kMaxComputeIdBytes));
  }
  accounting::Question question;
  const absl::StatusOr<accounting::Accountant> accountant =
      FromProto(request.accountant(), "accountant");
  if (!accountant.ok()) return accountant.status();
  question.accountant = *accountant;

  if (request.neighboring_relation() != v1::NeighboringRelation::KIND_UNSPECIFIED) {
    const absl::StatusOr<accounting::NeighboringRelation> relation =
        FromProto(request.neighboring_relation(), "neighboringRelation");
    if (!relation.ok()) return relation.status();
    question.relation = *relation;
  }
  if (request.adjacency() != v1::Adjacency::KIND_UNSPECIFIED) {
    const absl::StatusOr<accounting::Adjacency> adjacency =
        FromProto(request.adjacency(), "adjacency");
    if (!adjacency.ok()) return adjacency.status();
    if (question.relation != accounting::NeighboringRelation::kAddOrRemoveOne) {
      return accounting::OutOfDomain("adjacency", v1::Adjacency::Kind_Name(request.adjacency()),
                                     "unset: only ADD_OR_REMOVE_ONE has directions");
    }
    question.adjacency = *adjacency;
  }
  if (request.sensitivity_relation() != v1::SensitivityRelation::KIND_UNSPECIFIED) {
    const absl::StatusOr<accounting::SensitivityRelation> relation =
        FromProto(request.sensitivity_relation(), "sensitivityRelation");
    if (!relation.ok()) return relation.status();
    question.sensitivity_relation = *relation;
  }

  if (request.events_size() > kMaxComputeEvents) {
    return accounting::OutOfDomain("events", absl::StrCat(request.events_size(), " events"),
                                   absl::StrCat("at most ", kMaxComputeEvents));
  }
  absl::StatusOr<std::vector<accounting::CountedEvent>> events =
      FromProto(request.events(), "events");
  if (!events.ok()) return events.status();
  question.events = *std::move(events);

  const absl::StatusOr<accounting::Query> query = ToQuery(request.query());
  if (!query.ok()) return query.status();
  question.query = *query;

  absl::Status status = absl::OkStatus();
  if (request.has_relative_width()) {
    question.relative_width = request.relative_width();
    status = CheckInterval("relativeWidth", question.relative_width, accounting::kOpenProbability);
  }
  if (status.ok() && request.has_group_size()) {
    question.group_size = request.group_size();
    status = accounting::CheckRange("groupSize", question.group_size, 1, kMaxGroupSize);
  }
  if (status.ok() && request.has_advanced_delta_slack()) {
    question.advanced_delta_slack = request.advanced_delta_slack();
    status = CheckInterval("advancedDeltaSlack", *question.advanced_delta_slack,
                           accounting::kOpenProbability);
  }
  if (!status.ok()) return status;
  return question;
}

absl::StatusOr<v1::ComputeResponse> Compute(const v1::ComputeRequest& request) {
  const absl::StatusOr<accounting::Question> question = ToQuestion(request);
  if (!question.ok()) return question.status();
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<accounting::Guarantee> guarantee = accounting::Answer(*question);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!guarantee.ok()) return guarantee.status();
  v1::ComputeResponse response;
  response.set_id(request.id());
  ToProto(*guarantee, &response);
  response.set_seconds(took.count());
  return response;
}

v1::ComputeResponse Failure(const std::string& id, const absl::Status& status) {
  v1::ComputeResponse response;
  response.set_id(id);
  response.mutable_error()->set_code(static_cast<google::rpc::Code>(status.raw_code()));
  response.mutable_error()->set_message(std::string(status.message()));
  return response;
}

std::string ToJsonLine(const v1::ComputeResponse& response) {
  std::string line;
  const auto status = google::protobuf::util::MessageToJsonString(response, &line);
  // Printing fails on text that is not UTF-8 only, and every text here was checked on its way in.
  if (!status.ok()) {
    return R"({"error":{"code":"INTERNAL","message":"the answer cannot be printed as JSON"}})";
  }
  return line;
}

v1::ComputeResponse AnswerJsonLine(std::string_view line) {
  v1::ComputeRequest request;
  const absl::Status parsed = ParseJson(line, &request);
  if (!parsed.ok()) return Failure(request.id(), parsed);
  absl::StatusOr<v1::ComputeResponse> response = Compute(request);
  if (!response.ok()) return Failure(request.id(), response.status());
  return *std::move(response);
}

}  // namespace epsledger::convert
