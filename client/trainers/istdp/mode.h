#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_H_

#include <string>
#include <string_view>
#include <vector>

namespace epsledger::trainers::istdp {

// The mode that the program runs; the README describes each mode and justifies its label.
enum class Mode {
  kSound,
  kSoundLineSearch,
  kBacktracking,
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
  std::string_view name;     // value of --mode
  bool proven;               // false: as published, with a known counterexample
  std::string_view summary;  // one line for --help
};

// Returns all modes, kSound first.
const std::vector<ModeDescription>& AllModes();

const ModeDescription& Describe(Mode mode);

// Returns "proven", or "as published; claimed guarantee not proven (counterexample_known)".
std::string LabelText(const ModeDescription& mode);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_H_
