#include "proto/bridge/compute.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "google/protobuf/util/json_util.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/guarantee_convert.h"
#include "proto/bridge/json_message.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::bridge {
namespace {

// The one target of a calibration and its variable.
absl::StatusOr<accounting::Query> ToCalibrate(const v1::CalibrateQuery& query) {
  ASSIGN_OR_RETURN(const accounting::Calibrate::Variable variable,
                   FromProto(query.variable(), "query.calibrate.variable"));
  const bool spends = query.has_epsilon() || query.has_delta();
  if (int{spends} + int{query.has_mu()} + int{query.has_operating_point()} > 1) {
    return absl::InvalidArgumentError(
        "query.calibrate: got more than one target, want epsilon and delta, or mu, or "
        "operatingPoint");
  }
  const v1::OperatingPoint& rates = query.operating_point();
  if (query.has_operating_point() &&
      !(rates.has_false_positive_rate() && rates.has_true_positive_rate())) {
    return absl::InvalidArgumentError(
        "query.calibrate.operatingPoint: got less than two rates, want falsePositiveRate and "
        "truePositiveRate");
  }
  accounting::Calibrate calibrate{
      .epsilon = query.epsilon(), .delta = query.delta(), .variable = variable};
  if (query.has_mu()) calibrate.mu = query.mu();
  if (query.has_operating_point()) {
    calibrate.operating_point = {.false_positive_rate = rates.false_positive_rate(),
                                 .true_positive_rate = rates.true_positive_rate()};
  }
  return calibrate;
}

// Returns the query's numbers unchecked: accounting::Answer checks them, and names them as proto3
// JSON does.
absl::StatusOr<accounting::Query> ToQuery(const v1::Query& query) {
  switch (query.kind_case()) {
    case v1::Query::kEpsilonAtDelta:
      return accounting::EpsilonAtDelta::FromDelta(query.epsilon_at_delta());
    case v1::Query::kEpsilonAtLogDelta:
      return accounting::EpsilonAtDelta{query.epsilon_at_log_delta()};
    case v1::Query::kDeltaAtEpsilon:
      return accounting::DeltaAtEpsilon{query.delta_at_epsilon()};
    case v1::Query::kRenyiDivergenceAtOrder:
      return accounting::RenyiDivergenceAtOrder{query.renyi_divergence_at_order()};
    case v1::Query::kTypeTwoErrorAt:
      return accounting::TypeTwoErrorAt{query.type_two_error_at()};
    case v1::Query::kInverseTypeTwoErrorAt:
      return accounting::InverseTypeTwoErrorAt{query.inverse_type_two_error_at()};
    case v1::Query::kAdvantage:
      return accounting::Advantage{};
    case v1::Query::kGaussianDpMu:
      return accounting::GaussianDpMu{query.gaussian_dp_mu().alpha_min()};
    case v1::Query::kCentralLimit: {
      accounting::CentralLimit central_limit;
      if (query.central_limit().has_type_one_error()) {
        central_limit.type_one_error = query.central_limit().type_one_error();
      }
      return central_limit;
    }
    case v1::Query::kCalibrate:
      return ToCalibrate(query.calibrate());
    case v1::Query::kTruePositiveRateAt:
      return accounting::TruePositiveRateAt{query.true_positive_rate_at()};
    case v1::Query::kBayesSuccessAt:
      return accounting::BayesSuccessAt{query.bayes_success_at()};
    case v1::Query::kReconstructionSuccessAt:
      return accounting::ReconstructionSuccessAt{query.reconstruction_success_at()};
    case v1::Query::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "query: unset, want one of epsilonAtDelta, epsilonAtLogDelta, deltaAtEpsilon, "
      "renyiDivergenceAtOrder, typeTwoErrorAt, inverseTypeTwoErrorAt, advantage, gaussianDpMu, "
      "centralLimit, calibrate, truePositiveRateAt, bayesSuccessAt, reconstructionSuccessAt");
}

}  // namespace

absl::Status ParseJson(std::string_view line, v1::ComputeRequest* request) {
  request->Clear();
  std::string id;
  absl::Status status = json_syntax::CheckObject(line, &id);
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
  ASSIGN_OR_RETURN(const accounting::Accountant accountant,
                   FromProto(request.accountant(), "accountant"));
  question.accountant = accountant;

  RETURN_IF_ERROR(ReadHistory(HistoryOf(request), &question));

  ASSIGN_OR_RETURN(const accounting::Query query, ToQuery(request.query()));
  question.query = query;
  return question;
}

absl::StatusOr<v1::ComputeResponse> Compute(const v1::ComputeRequest& request) {
  ASSIGN_OR_RETURN(const accounting::Question question, ToQuestion(request));
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<accounting::Guarantee> guarantee = accounting::Answer(question);
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
  // Printing fails only on text that is not UTF-8, and every text here was checked on input.
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

}  // namespace epsledger::bridge
