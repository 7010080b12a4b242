#include "client/trainers/istdp/run_log.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/evaluation.h"
#include "client/trainers/run/result_file.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr const char* kNoneIsProven = "none is proven";
constexpr double kNoAnswer = std::numeric_limits<double>::quiet_NaN();

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void LogRun(const CommandLine& options, const RunReport& report, double noise_multiplier,
            const TrainingState& resumed, TrainingLog& log) {
  log.Run({{"program", "epsledger-istdp"},
           {"mode", std::string(report.mode.name)},
           {"label", LabelText(report.mode)},
           {"data", options.data},
           {"settings", SettingsText(options)},
           {"session", report.ledger.session.name()},
           {"attempt", report.ledger.session.attempt_name()},
           {"event", report.ledger.mechanism.ToJson()},
           {"noise_multiplier", noise_multiplier},
           {"steps", int64_t{options.ledger.steps}},
           {"max_steps", int64_t{options.ledger.max_steps}},
           {"lease", options.ledger.lease},
           {"resumed_from_step", int64_t{resumed.step}}});
}

void LogStep(const RunReport& report, const StepReport& step, TrainingLog& log) {
  log.Step(
      {{"step", int64_t{step.step}},
       {"step_size", step.step_size},
       {"backtracks", int64_t{step.backtracks}},
       {"released_gradient_norm", step.released_gradient_norm},
       {"step_residual", step.step_residual},
       {"held_out_objective",
        Objective(report.held_out, report.loss, report.regularizer, step.theta)},
       {"epsilon", report.mode.proven ? LogValue(BestEpsilon(report.ledger).value_or(kNoAnswer))
                                      : LogValue(std::string(kNoneIsProven))},
       {"delta", report.ledger.delta},
       {"steps_left", StepsThatFit(report.ledger).value_or(-1)}});
}

absl::Status LogResult(const RunReport& report, const TrainingResult& result, const RunTimes& times,
                       TrainingLog& log) {
  const auto accuracy = [&](const Eigen::VectorXd& theta) {
    return Accuracy(report.held_out, theta);
  };
  const auto objective = [&](const Eigen::VectorXd& theta) {
    return Objective(report.held_out, report.loss, report.regularizer, theta);
  };
  LogFields fields = {{"mode", std::string(report.mode.name)},
                      {"label", LabelText(report.mode)},
                      {"stop_reason", std::string(StopReasonName(result.stop_reason))},
                      {"steps", int64_t{result.steps}},
                      {"releases", int64_t{result.releases}},
                      {"held_out_records", int64_t{report.held_out.rows.labels.size()}},
                      {"accuracy", accuracy(result.last)},
                      {"objective", objective(result.last)},
                      {"averaged_accuracy", accuracy(result.averaged)},
                      {"averaged_objective", objective(result.averaged)},
                      {"support_size", static_cast<int64_t>(result.support.size())},
                      {"coefficients", int64_t{result.last.size()}}};
  if (report.mode.proven) {
    fields.emplace_back(
        "epsilon", BestEpsilon(report.ledger).value_or(std::numeric_limits<double>::infinity()));
  } else {
    fields.emplace_back("epsilon", std::string(kNoneIsProven));
  }
  fields.emplace_back("delta", report.ledger.delta);
  if (report.claim.has_value()) {
    fields.emplace_back("claimed_epsilon", report.claim->epsilon);
    fields.emplace_back("claimed_delta", report.claim->delta);
  }
  const double training = Seconds(times.training);
  const double charges = Seconds(times.charges);
  fields.emplace_back("wall_seconds", Seconds(times.wall));
  fields.emplace_back("training_seconds", training);
  fields.emplace_back("charge_seconds", charges);
  fields.emplace_back("charge_share", training > 0 ? charges / training : 0.0);
  return log.Result(fields);
}

absl::Status WriteModel(const RunReport& report, const TrainingResult& result,
                        const std::string& path) {
  const auto list = [](const Eigen::VectorXd& vector) {
    return std::vector<double>(vector.begin(), vector.end());
  };
  nlohmann::ordered_json model;
  model["label"] = LabelText(report.mode);
  model["session"] = report.ledger.session.name();
  model["features"] = report.feature_names;
  model["last"] = list(result.last);
  model["averaged"] = list(result.averaged);
  RETURN_IF_ERROR(KeepPrevious(path));
  return WriteDurably(path,
                      model.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace epsledger::trainers::istdp
