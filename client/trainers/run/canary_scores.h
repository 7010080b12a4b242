#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_CANARY_SCORES_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_CANARY_SCORES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::trainers {

// Returns for each canary whether it is trained on: independent fair coins from the operating
// system. INTERNAL if there is no randomness. REQUIRES: count in [0, 2^31).
absl::StatusOr<std::vector<bool>> DrawMembers(int64_t count);

// Returns the input of `epsctl audit --method one-run --scores`: one line "member,SCORE" or
// "non-member,SCORE" for each canary, in order, with enough digits to read back the same score.
// REQUIRES: one score a canary.
std::string CanaryScoreLines(const std::vector<bool>& is_member, const std::vector<double>& scores);

// Writes CanaryScoreLines to the file, durably, and keeps the previous file as PATH.previous.
// Status codes as KeepPrevious and WriteDurably.
absl::Status WriteCanaryScores(const std::string& path, const std::vector<bool>& is_member,
                               const std::vector<double>& scores);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_CANARY_SCORES_H_
