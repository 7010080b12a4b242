#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_TRANSCRIPT_SCORE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_TRANSCRIPT_SCORE_H_

#include <Eigen/Core>
#include <cmath>

namespace epsledger::trainers {

// The score of a run by the white-box adversary of an audit: the log-likelihood ratio of all
// released vectors, with a canary against without it, if every release is a sum with N(0,
// deviation^2) on each coordinate and the canary is in the sum with the sampling probability. No
// score distinguishes the two cases better (Neyman and Pearson).
class TranscriptScore {
 public:
  explicit TranscriptScore(double sampling_probability)
      : sampling_probability_(sampling_probability) {}

  // Adds a release to which the canary adds `contribution` if it is in the sample.
  void Add(const Eigen::VectorXd& released, const Eigen::VectorXd& contribution, double deviation) {
    const double ratio =
        (released.dot(contribution) - contribution.squaredNorm() / 2) / (deviation * deviation);
    sum_ += OfSample(ratio);
  }

  double sum() const { return sum_; }

 private:
  // log(1 - q + q e^ratio), without overflow.
  double OfSample(double ratio) const {
    const double q = sampling_probability_;
    if (q == 1) return ratio;
    if (ratio > 0) return ratio + std::log(q + (1 - q) * std::exp(-ratio));
    return std::log1p(q * std::expm1(ratio));
  }

  double sampling_probability_;
  double sum_ = 0;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_TRANSCRIPT_SCORE_H_
