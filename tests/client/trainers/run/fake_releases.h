#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_RUN_FAKE_RELEASES_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_RUN_FAKE_RELEASES_H_

#include <Eigen/Core>
#include <cstdint>
#include <random>
#include <utility>

#include "absl/status/statusor.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers {

// Adds no noise, so there is no privacy: only for tests.
class ExactRelease : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    return exact_sum;
  }
};

// Adds the noise of the real release from a fixed seed, so there is no privacy either: only for
// tests.
class SeededGaussianRelease : public GradientRelease {
 public:
  SeededGaussianRelease(uint64_t seed, double noise_multiplier)
      : generator_(seed), noise_multiplier_(noise_multiplier) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    Eigen::VectorXd noisy = exact_sum;
    for (double& value : noisy) value += noise_multiplier_ * contribution * normal_(generator_);
    return noisy;
  }

 private:
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
  double noise_multiplier_;
};

// Releases the first coordinates and the others separately. Each part has a release and a
// contribution of its own, which replaces the contribution of the call.
class TwoPartRelease : public GradientRelease {
 public:
  struct Part {
    GradientRelease& release;
    double contribution;
  };
  TwoPartRelease(Eigen::Index first_size, Part first, Part rest)
      : first_size_(first_size), first_(first), rest_(rest) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    const absl::StatusOr<Eigen::VectorXd> first =
        first_.release.Release(exact_sum.head(first_size_), first_.contribution);
    if (!first.ok()) return first;
    const absl::StatusOr<Eigen::VectorXd> rest =
        rest_.release.Release(exact_sum.tail(exact_sum.size() - first_size_), rest_.contribution);
    if (!rest.ok()) return rest;
    Eigen::VectorXd both(exact_sum.size());
    both << *first, *rest;
    return both;
  }

 private:
  Eigen::Index first_size_;
  Part first_;
  Part rest_;
};

// Releases exactly `allowed` times, then always returns `status`.
class EndingRelease : public GradientRelease {
 public:
  EndingRelease(int allowed, absl::Status status) : left_(allowed), status_(std::move(status)) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    ++calls;
    if (left_-- <= 0) return status_;
    return exact_sum;
  }

  int calls = 0;

 private:
  int left_;
  absl::Status status_;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_RUN_FAKE_RELEASES_H_
