#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_PROGRAM_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_PROGRAM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/run/ledger_flags.h"
#include "client/trainers/run/open_run.h"
#include "epsledger/budget.h"

namespace epsledger::trainers {

// How the steps of a run ended.
struct RunEnd {
  enum class Reason {
    kComplete,  // converged, or the step limit
    kRefused,   // the ledger refused a charge
    kFailed,    // another error, after which the run keeps what it has
  };
  Reason reason = Reason::kComplete;
  int releases = 0;  // of this run
};

// The parts of a training program that differ between trainers, in the order of a run.
class TrainerProgram {
 public:
  virtual ~TrainerProgram() = default;

  // Reads the records and, with --resume, the checkpoint, checks that result files can be written,
  // and completes ledger(). Charges nothing and releases nothing.
  virtual absl::Status Prepare() = 0;

  // The flags of the run. What Prepare finds may change them.
  virtual const LedgerFlags& ledger() const = 0;

  // Returns what the session is opened with. Called after Prepare.
  virtual RunDescription Description(const Budget& budget) const = 0;

  // Trains, charging every release to run.session, then writes the files and the report. An error
  // is one that leaves no result.
  virtual absl::StatusOr<RunEnd> Train(OpenedRun& run, const Budget& budget) = 0;
};

// Runs a trainer: Prepare, then the connection, the budget, the noise and the session
// (OpenGaussianRun), then Train. Every error is printed on stderr behind `name`. Returns the exit
// code of the process: 0 if trained (complete, or refused after at least one release), 3 if refused
// from the start, 1 otherwise.
int RunTrainer(const std::string& name, TrainerProgram& program);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_PROGRAM_H_
