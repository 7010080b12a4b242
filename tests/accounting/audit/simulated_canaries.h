#ifndef EPSLEDGER_TESTS_ACCOUNTING_AUDIT_SIMULATED_CANARIES_H_
#define EPSLEDGER_TESTS_ACCOUNTING_AUDIT_SIMULATED_CANARIES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

#include "accounting/audit/canary_scores.h"

namespace epsledger::accounting {

// The scores that an exactly mu-GDP mechanism gives to a canary: N(mu, 1) in runs with the canary,
// N(0, 1) in runs without. Uses Box-Muller on std::mt19937_64, so that every library gives the same
// numbers.
class SimulatedCanaries {
 public:
  explicit SimulatedCanaries(uint64_t seed) : generator_(seed) {}

  CanaryScores TwoArms(double mu, size_t members, size_t non_members) {
    CanaryScores scores;
    for (size_t i = 0; i < members; ++i) scores.members.push_back(mu + Normal());
    for (size_t i = 0; i < non_members; ++i) scores.non_members.push_back(Normal());
    return scores;
  }

  // Scores of orthogonal canaries of one run, each included with probability 1/2.
  CanaryScores OneRun(double mu, size_t canaries) {
    CanaryScores scores;
    for (size_t i = 0; i < canaries; ++i) {
      if ((generator_() >> 63) != 0) {
        scores.members.push_back(mu + Normal());
      } else {
        scores.non_members.push_back(Normal());
      }
    }
    return scores;
  }

 private:
  double Uniform() { return (static_cast<double>(generator_() >> 11) + 0.5) * 0x1p-53; }
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(6.283185307179586 * Uniform());
  }

  std::mt19937_64 generator_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_AUDIT_SIMULATED_CANARIES_H_
