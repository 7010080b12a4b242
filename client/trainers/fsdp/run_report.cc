#include "client/trainers/fsdp/run_report.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/run/privacy_label.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::fsdp {
namespace {

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Progress::Progress(const RunReport& report, const network::Network<float>& network)
    : report_(report),
      evaluated_(*network::Network<float>::Create(network.shape(0), network.layers())) {}

absl::StatusOr<Evaluation> Progress::EvaluateState(const TrainingState& state) {
  const auto start = std::chrono::steady_clock::now();
  evaluated_.parameters() = state.average.size() > 0 ? state.average : state.parameters;
  absl::StatusOr<Evaluation> evaluation = Evaluate(evaluated_, report_.held_out);
  evaluation_seconds_ += Seconds(std::chrono::steady_clock::now() - start);
  return evaluation;
}

void Progress::Show(const StepReport& step) {
  const int64_t number = step.state.step;
  LogFields fields = {{"step", number},
                      {"seconds", Seconds(std::chrono::steady_clock::now() - start_)},
                      {"update_norm", step.update_norm},
                      {"residual_clip", step.state.residual_clip},
                      {"embedding_clip", step.state.embedding_clip}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Evaluation evaluation{nan, nan};
  double epsilon = nan;
  const bool shown = number % report_.evaluate_every == 0 || number == report_.max_steps;
  if (shown) {
    if (const auto found = EvaluateState(step.state); found.ok()) evaluation = *found;
    epsilon = BestEpsilon(report_.ledger).value_or(nan);
  }
  fields.emplace_back("held_out_accuracy", evaluation.accuracy);
  fields.emplace_back("held_out_loss", evaluation.loss);
  fields.emplace_back("epsilon", epsilon);
  report_.log.Step(fields);
  if (!shown) return;
  std::string line = absl::StrFormat("step %4d  held-out accuracy %.4f  loss %.4f", number,
                                     evaluation.accuracy, evaluation.loss);
  if (!std::isnan(epsilon)) {
    absl::StrAppend(&line, "  epsilon at ", ExactNumber(report_.ledger.delta), ": ",
                    RoundedNumber(epsilon, Rounding::kUp, 4));
  }
  absl::StrAppend(&line, StepsLeft(report_.ledger, report_.max_steps - number));
  report_.out << line << std::endl;
}

absl::Status Progress::Finish(const TrainingResult& result, const LedgerRelease& release) {
  std::ostream& out = report_.out;
  const double wall = Seconds(std::chrono::steady_clock::now() - start_);
  const double training = wall - evaluation_seconds_;
  const double charging = Seconds(release.charge_time());
  out << "\nTraining ended: " << StopReasonName(result.stop_reason) << " after " << result.releases
      << (result.releases == 1 ? " step.\n" : " steps.\n");
  if (!result.release_status.ok()) {
    out << "The ledger: " << LedgerStatusText(result.release_status) << "\n";
  }
  LogFields fields = {{"label", std::string(kProvenLabel)},
                      {"stop_reason", std::string(StopReasonName(result.stop_reason))},
                      {"steps", int64_t{result.state.step}},
                      {"releases", int64_t{result.releases}}};
  if (result.releases > 0) {
    ASSIGN_OR_RETURN(const Evaluation evaluation, EvaluateState(result.state));
    PrintGuarantees(report_.ledger,
                    absl::StrCat(report_.charged_before,
                                 ChargedText(result.releases, report_.ledger.mechanism)),
                    out);
    out << absl::StrFormat("\nHeld-out accuracy %.4f, loss %.4f on %d records.\n",
                           evaluation.accuracy, evaluation.loss,
                           report_.held_out.records.labels.size());
    out << absl::StrFormat(
        "Wall time %.1f s (features %.1f s before it), of which the ledger %.2f %%, noise %.2f %%, "
        "evaluation %.2f %%.\n",
        wall, report_.feature_seconds, 100 * charging / wall,
        100 * (result.seconds_in_release - charging) / wall, 100 * evaluation_seconds_ / wall);
    out << "Privacy label: " << kProvenLabel
        << ". Every access to a private record was charged before its noise was drawn. The ledger\n"
           "counts what this program claims: Poisson samples with that probability, and Gaussian "
           "noise of that\nmultiplier on sums of clipped gradients.\n";
    fields.emplace_back("held_out_accuracy", evaluation.accuracy);
    fields.emplace_back("held_out_loss", evaluation.loss);
    fields.emplace_back(
        "epsilon", BestEpsilon(report_.ledger).value_or(std::numeric_limits<double>::quiet_NaN()));
    fields.emplace_back("delta", report_.ledger.delta);
  } else if (result.stop_reason == StopReason::kRefused) {
    out << (report_.charged_before.empty()
                ? "Nothing was released and nothing was charged.\n"
                : "No step was released or charged; what came before the steps was.\n");
  }
  fields.emplace_back("wall_seconds", wall);
  fields.emplace_back("training_seconds", training);
  fields.emplace_back("feature_seconds", report_.feature_seconds);
  fields.emplace_back("charging_share", charging / training);
  fields.emplace_back("noise_share", (result.seconds_in_release - charging) / training);
  // A run that released nothing does not replace the log of an earlier run.
  if (result.releases == 0) return absl::OkStatus();
  return report_.log.Result(fields);
}

}  // namespace epsledger::trainers::fsdp
