#include "accounting/analytics/selection.h"

#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// How a neighbor changes the scores: each by at most `size` contributions, and all in one direction
// if `directed`.
struct ScoreChange {
  double size;
  bool directed;
};

// A record that is replaced is removed, and another one is added. A monotonic score then moves by
// at most one contribution in all, and any other score by at most two.
ScoreChange ChangeOf(bool monotonic, const Setting& setting) {
  if (setting.relation != NeighboringRelation::kReplaceOne) {
    return ScoreChange{setting.shift(), monotonic};
  }
  return ScoreChange{monotonic ? 1 : setting.shift(), false};
}

// Returns how far apart the changes of two scores can be: 1 or 2 times `size`, exactly.
double Spread(const ScoreChange& change) { return change.directed ? change.size : 2 * change.size; }

}  // namespace

double NoisyMaxEpsilon(const ReportNoisyMax& event, const Setting& setting) {
  return RoundUp(Spread(ChangeOf(event.monotonic, setting)) / event.noise_multiplier);
}

double AboveThresholdEpsilon(const AboveThreshold& event, const Setting& setting) {
  const ScoreChange change = ChangeOf(event.monotonic, setting);
  const double of_threshold = RoundUp(change.size / event.threshold_noise_multiplier);
  const double of_queries =
      RoundUp(static_cast<double>(event.cutoff) * Spread(change) / event.query_noise_multiplier, 2);
  return RoundUp(of_threshold + of_queries);
}

}  // namespace epsledger::accounting
