#ifndef EPSLEDGER_ACCOUNTING_RENYI_DIVERGENCE_CHORDS_H_
#define EPSLEDGER_ACCOUNTING_RENYI_DIVERGENCE_CHORDS_H_

#include <functional>
#include <map>
#include <utility>

namespace epsledger::accounting {

// Renyi divergences for callers that ask at thousands of orders: each is read off the chord between
// two of a few hundred orders, which are computed once.
//
// At(order) >= D_order of every pair whose divergences are at most those of `divergence` at every
// order: (order - 1) D_order is the logarithm of a moment of the likelihood ratio, convex in the
// order by Hölder's inequality, so it is below its chords, and the chords of larger numbers are
// larger. The chord of rho order is at most a relative 3e-5 above it. Not safe to share between
// threads.
class DivergenceChords {
 public:
  explicit DivergenceChords(std::function<double(double order)> divergence)
      : divergence_(std::move(divergence)) {}

  // order > 1. +inf only where `divergence` itself is at this order.
  double At(double order);

 private:
  // (order - 1) D at the order 1 + ratio^index, at least.
  double MomentAt(int index);

  const std::function<double(double)> divergence_;
  std::map<int, double> moments_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_DIVERGENCE_CHORDS_H_
