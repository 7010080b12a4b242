#include "client/trainers/istdp/feature_scaling.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/libsvm_data.h"

namespace epsledger::trainers::istdp {
namespace {

bool IsBound(double bound) { return std::isfinite(bound) && bound > 0; }

}  // namespace

absl::StatusOr<FeatureBounds> ReadFeatureBounds(const std::string& argument,
                                                Eigen::Index feature_count) {
  double all = 0;
  if (absl::SimpleAtod(argument, &all)) {
    if (!IsBound(all)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--scale: got ", argument, ", want a finite number > 0 or a file"));
    }
    return FeatureBounds::Constant(feature_count, all).eval();
  }
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(argument));
  FeatureBounds bounds = FeatureBounds::Ones(feature_count);
  std::set<int> seen;
  int line_number = 0;
  for (const auto line : absl::StrSplit(text, '\n')) {
    ++line_number;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    int index = 0;
    double bound = 0;
    if (words.size() != 2 || !absl::SimpleAtoi(words[0], &index) || index < 1 ||
        index > feature_count || !absl::SimpleAtod(words[1], &bound) || !IsBound(bound) ||
        !seen.insert(index).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, ":", line_number, ": want \"INDEX BOUND\", an index in [1, ",
                       feature_count, "] that no line before has and a finite bound > 0"));
    }
    bounds[index - 1] = bound;
  }
  return bounds;
}

void ScaleFeatures(const FeatureBounds& bounds, LabeledRows* rows) {
  for (Eigen::Index row = 0; row < rows->features.rows(); ++row) {
    for (SparseRows::InnerIterator entry(rows->features, row); entry; ++entry) {
      entry.valueRef() = std::clamp(entry.value() / bounds[entry.col()], -1.0, 1.0);
    }
  }
}

}  // namespace epsledger::trainers::istdp
