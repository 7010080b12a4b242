#include "client/trainers/istdp/mode.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/trainers/run/privacy_label.h"

namespace epsledger::trainers::istdp {

const std::vector<ModeDescription>& AllModes() {
  static const auto& modes = *new std::vector<ModeDescription>{
      {Mode::kSound, "sound", true, "steps from released gradients, no line search (default)"},
      {Mode::kSoundLineSearch, "sound-line-search", true,
       "as sound, with comparisons of losses that are charged too"},
      {Mode::kBacktracking, "sound-backtracking", true,
       "as sound, with steps made as short as the paper's Lemma 3.2 asks, at no charge"},
      {Mode::kTwoPhase, "sound-two-phase", true,
       "finds the support first, then fits it alone without a penalty"},
      {Mode::kPublishedNoise, "published-noise", true,
       "the paper's noise for --claimed-epsilon, fixed step, nothing exact"},
      {Mode::kAsPublished, "as-published", false,
       "the paper's algorithm; its privacy proof is wrong: needs --accept-unproven"},
      {Mode::kOutputPerturbation, "output-perturbation", true,
       "baseline: noise on the minimizer with an L2 penalty of --l2"},
      {Mode::kObjectivePerturbation, "objective-perturbation", true,
       "baseline: the minimizer of a noised objective with --l2; see --target-epsilon"},
      {Mode::kDpSgd, "dp-sgd", true, "baseline: Poisson batches, step --step-size, no penalty"},
  };
  return modes;
}

const ModeDescription& Describe(Mode mode) {
  const std::vector<ModeDescription>& modes = AllModes();
  return *std::find_if(modes.begin(), modes.end(),
                       [mode](const ModeDescription& each) { return each.mode == mode; });
}

std::string LabelText(const ModeDescription& mode) {
  if (mode.proven) return std::string(kProvenLabel);
  return absl::StrCat(std::string(kNotProvenLabel), " (", std::string(kCounterexampleFlag), ")");
}

}  // namespace epsledger::trainers::istdp
