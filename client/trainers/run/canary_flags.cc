#include "client/trainers/run/canary_flags.h"

#include <CLI/CLI.hpp>

namespace epsledger::trainers {

void CanaryFlags::AddTo(CLI::App& app) {
  const char* group = "Audit";
  CLI::Option* canaries =
      app.add_option("--canaries", count,
                     "made-up records, each trained on with probability 1/2: how well what is "
                     "released tells which ones bounds the run's epsilon from below, by `epsctl "
                     "audit --method one-run --scores FILE`. They cost accuracy: the model is for "
                     "the audit alone")
          ->check(CLI::Range(1, 1'000'000))
          ->type_name("M")
          ->group(group);
  CLI::Option* scores = app.add_option("--canary-scores", scores_file,
                                       "where the scores of the canaries go, a line each; an "
                                       "existing file is replaced")
                            ->type_name("FILE")
                            ->group(group);
  canaries->needs(scores);
  scores->needs(canaries);
}

absl::Status CanaryFlags::Check(bool resumes, NeighboringRelation relation) const {
  if (count == 0) return absl::OkStatus();
  if (resumes) {
    return absl::InvalidArgumentError(
        "--canaries: got --resume too, want a run from its first step: which canaries are trained "
        "on is not in the checkpoint");
  }
  if (relation == NeighboringRelation::kReplaceOne) {
    return absl::InvalidArgumentError(
        "--canaries: got --relation replace-one, want add-or-remove-one: a canary is added or left "
        "out, and replaces no record");
  }
  if (scores_file.empty()) {
    return absl::InvalidArgumentError("--canary-scores: got an empty name, want a file");
  }
  return absl::OkStatus();
}

}  // namespace epsledger::trainers
