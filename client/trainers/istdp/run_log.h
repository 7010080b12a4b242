#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_LOG_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_LOG_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "client/trainers/istdp/command_line.h"
#include "client/trainers/istdp/run_report.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/training_log.h"

namespace epsledger::trainers::istdp {

struct RunTimes {
  std::chrono::nanoseconds wall{0};      // of the program
  std::chrono::nanoseconds training{0};  // of the steps, without showing and logging
  std::chrono::nanoseconds charges{0};   // part of `training`: waiting for the ledger
};

void LogRun(const CommandLine& options, const RunReport& report, double noise_multiplier,
            const TrainingState& resumed, TrainingLog& log);

// Logs a step with the ledger's answers. "epsilon" is that of the accountant BEST at the report's
// delta, or NaN if there is no answer, or the text "none is proven"; it and the steps left take one
// request to the ledger each.
void LogStep(const RunReport& report, const StepReport& step, TrainingLog& log);

// Logs how the run ended. `epsilon` is a number for a proven run only.
absl::Status LogResult(const RunReport& report, const TrainingResult& result, const RunTimes& times,
                       TrainingLog& log);

// Writes the released coefficients, last and averaged, with the label, as one JSON object, and
// keeps the previous file as PATH.previous.
absl::Status WriteModel(const RunReport& report, const TrainingResult& result,
                        const std::string& path);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_LOG_H_
