#include "client/trainers/run/canary_scores.h"

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/run/poisson_sampler.h"
#include "client/trainers/run/result_file.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers {

absl::StatusOr<std::vector<bool>> DrawMembers(int64_t count) {
  // A Poisson sample with probability 1/2 is exactly one fair coin for each canary.
  ASSIGN_OR_RETURN(PoissonSampler coins, PoissonSampler::Create(0.5, count));
  ASSIGN_OR_RETURN(const std::vector<int> members, coins.Draw());
  std::vector<bool> is_member(static_cast<size_t>(count));
  for (const int member : members) is_member[static_cast<size_t>(member)] = true;
  return is_member;
}

std::string CanaryScoreLines(const std::vector<bool>& is_member,
                             const std::vector<double>& scores) {
  std::string lines;
  for (size_t canary = 0; canary < scores.size(); ++canary) {
    absl::StrAppend(&lines, is_member[canary] ? "member," : "non-member,",
                    ExactNumber(scores[canary]), "\n");
  }
  return lines;
}

absl::Status WriteCanaryScores(const std::string& path, const std::vector<bool>& is_member,
                               const std::vector<double>& scores) {
  RETURN_IF_ERROR(KeepPrevious(path));
  return WriteDurably(path, CanaryScoreLines(is_member, scores));
}

}  // namespace epsledger::trainers
