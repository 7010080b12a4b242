#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_H_

#include <string>
#include <string_view>
#include <vector>

namespace epsledger::trainers::istdp {

// What the program runs; the README says what each one is and why it may be labelled so.
enum class Mode {
  kSound,
  kSoundLineSearch,
  kTwoPhase,
  kPublishedNoise,
  kAsPublished,
  // Baselines, see baselines.h.
  kOutputPerturbation,
  kObjectivePerturbation,
  kDpSgd,
};

struct ModeDescription {
  Mode mode;
  std::string_view name;     // of the flag
  bool proven;               // else as published, with a known counterexample
  std::string_view summary;  // one line for --help
};

// All of them, kSound first.
const std::vector<ModeDescription>& AllModes();

const ModeDescription& Describe(Mode mode);

// "proven", or "as published; claimed guarantee not proven (counterexample_known)".
std::string LabelText(const ModeDescription& mode);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_H_
