#include "client/trainers/fsdp/run_files.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp/model_file.h"
#include "client/trainers/run/privacy_label.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::fsdp {

const network::Vector<float>& ReleasedModel(const TrainingState& state) {
  return state.average.size() > 0 ? state.average : state.parameters;
}

void RunFiles::WriteFirstCheckpoint(const TrainingState& state) {
  if (!options_.checkpoint.empty()) WriteCheckpoint(state);
}

void RunFiles::WriteCheckpointIfDue(const TrainingState& state) {
  if (!options_.checkpoint.empty() && state.step % options_.checkpoint_every == 0) {
    WriteCheckpoint(state);
  }
}

void RunFiles::WriteResult(const TrainingResult& result) {
  if (result.releases == 0) return;
  if (!options_.checkpoint.empty()) WriteCheckpoint(result.state);
  if (!options_.model_file.empty()) status_.Update(WriteModel(result.state));
}

void RunFiles::WriteCheckpoint(const TrainingState& state) {
  absl::Status written = previous_.Keep(options_.checkpoint);
  if (written.ok()) written = WriteStateFile(options_.checkpoint, network_, identity_, state);
  status_.Update(written);
}

// The file has what others need to use the model and to judge it.
absl::Status RunFiles::WriteModel(const TrainingState& state) const {
  ASSIGN_OR_RETURN(
      const std::string encoded,
      EncodeModel(
          network_, ReleasedModel(state), {.basis = basis_, .center = state.center},
          {{"program", "epsledger-fsdp"},
           {"data", options_.data},
           {"deskewed", options_.deskew ? "true" : "false"},
           {"features", options_.features},
           {"public_directions", absl::StrCat(options_.public_directions)},
           {"views", absl::StrCat(options_.view_count)},
           {"center_noise", ExactNumber(options_.center_noise.value_or(0))},
           {"input_scale", ExactNumber(options_.input_scale)},
           {"steps", absl::StrCat(state.step)},
           {"session", absl::StrCat("budgets/", identity_.budget, "/sessions/", identity_.session)},
           {"noise_multiplier", ExactNumber(identity_.noise_multiplier)},
           {"label", std::string(kProvenLabel)}}));
  RETURN_IF_ERROR(KeepPrevious(options_.model_file));
  return WriteDurably(options_.model_file, encoded);
}

}  // namespace epsledger::trainers::fsdp
