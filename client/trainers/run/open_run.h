#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_OPEN_RUN_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_OPEN_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/run/ledger_flags.h"
#include "epsledger/budget.h"
#include "epsledger/client.h"
#include "epsledger/mechanism.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// What a trainer says about a run when it opens the session.
struct RunDescription {
  std::string program;       // "epsledger-istdp"
  std::string display_name;  // "ISTDP on a9a"
  Provenance provenance;
  std::optional<Claim> claim;
  // The probability of the Poisson samples of steps. 1: every step reads all records.
  double sampling_probability = 1;
  // What the run charges besides its steps, whatever their noise: the noise of the steps is chosen,
  // and a plan made, for all of it together.
  std::vector<CountedMechanism> besides_steps = {};
  // True if the run continues from a checkpoint: its session must exist. Another ledger would not
  // know the earlier releases.
  bool resumes = false;
};

// A session with its event, ready to train.
struct OpenedRun {
  Session session;
  double noise_multiplier;
  Mechanism mechanism;  // the event of every step
};

// Creates the session (or finds it, with the same content) and opens its next attempt. Every step
// is gaussian{z}, in poissonSampled if the sampling probability is below 1. z is
// flags.noise_multiplier if given, else near the smallest with which flags.steps steps fit into the
// cap: the session's own if flags.epsilon is set, else the budget's. With flags.fit_remaining they
// fit into the rest of the budget, as its previews report it now.
//   A DECLARED session with its own (epsilon, delta) is one plan, so the ledger calibrates z by its
//   tightest bound. The same holds for a sampled run that fills a budget whose filter treats a plan
//   as one (epsilon, delta) mechanism (kBasic).
//   Sampled steps in other (epsilon, delta) caps are calibrated by the moments accountant, which
//   converts as their filter over Renyi orders does, up to order 33: some more steps may fit.
//   Steps that are not sampled are counted in the cells of the cap.
// description.besides_steps is part of the plan and of each calibration to an (epsilon, delta). A
// cap that counts units of the steps' event may fit fewer steps beside it. Noise for the rest of a
// budget, and from the cells of a cap, is chosen for steps alone: INVALID_ARGUMENT then.
// FAILED_PRECONDITION if a plan does not fit (RefusalOf says why), or no z can be found. NOT_FOUND
// if description.resumes and the session does not exist.
absl::StatusOr<OpenedRun> OpenGaussianRun(const LedgerFlags& flags,
                                          const RunDescription& description, const Budget& budget,
                                          Client& client);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_OPEN_RUN_H_
