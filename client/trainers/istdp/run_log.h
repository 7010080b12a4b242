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

// Where the time of a run went.
struct RunTimes {
  std::chrono::nanoseconds wall{0};      // of the program
  std::chrono::nanoseconds training{0};  // of the steps, without what is shown and logged
  std::chrono::nanoseconds charges{0};   // of that, waiting for the ledger
};

// Logs what the run was told.
void LogRun(const CommandLine& options, const RunReport& report, double noise_multiplier,
            const TrainingState& resumed, TrainingLog& log);

// Logs a step, with what the ledger says of it: epsilon is that of the accountant BEST at the
// report's delta, or NaN if there is no answer, or "none is proven". One question to the ledger for
// each of the two.
void LogStep(const RunReport& report, const StepReport& step, TrainingLog& log);

// Logs how the run ended. `epsilon` is a number for a proven run only.
absl::Status LogResult(const RunReport& report, const TrainingResult& result, const RunTimes& times,
                       TrainingLog& log);

// Writes the released coefficients, last and averaged, with the label, as one JSON object, and
// keeps what was there as PATH.previous.
absl::Status WriteModel(const RunReport& report, const TrainingResult& result,
                        const std::string& path);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_LOG_H_
