#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_TRANSCRIPT_SCORE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_TRANSCRIPT_SCORE_H_

#include <Eigen/Core>
#include <cmath>

namespace epsledger::trainers {

// The score of a run by the white-box adversary of an audit: the log-likelihood ratio of all
// released vectors, with a canary against without it (or with another record in its place), if
// every release is a sum with N(0, deviation^2) on each coordinate and the canary is in the sum
// with the sampling probability. No score distinguishes the two cases better (Neyman and Pearson).
class TranscriptScore {
 public:
  explicit TranscriptScore(double sampling_probability)
      : sampling_probability_(sampling_probability) {}

  // Adds a release to which the canary adds `contribution` if it is in the sample.
  void Add(const Eigen::VectorXd& released, const Eigen::VectorXd& contribution, double deviation) {
    sum_ += OfSample(released, contribution, deviation);
  }

  // Adds a release to which the canary adds `contribution`, and in the other arm the record in its
  // place `other`, if it is in the sample.
  void AddReplaced(const Eigen::VectorXd& released, const Eigen::VectorXd& contribution,
                   const Eigen::VectorXd& other, double deviation) {
    sum_ += OfSample(released, contribution, deviation) - OfSample(released, other, deviation);
  }

  double sum() const { return sum_; }

 private:
  // log(1 - q + q e^ratio) for the log-likelihood ratio of the release with `added` against without
  // it; without overflow.
  double OfSample(const Eigen::VectorXd& released, const Eigen::VectorXd& added,
                  double deviation) const {
    const double ratio = (released.dot(added) - added.squaredNorm() / 2) / (deviation * deviation);
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
