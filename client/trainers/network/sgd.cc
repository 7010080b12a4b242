#include "client/trainers/network/sgd.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::network {
namespace {

constexpr double kLargestLearningRate = 1e12;

}  // namespace

template <class T>
absl::StatusOr<Sgd<T>> Sgd<T>::Create(const SgdOptions& options, Eigen::Index parameter_count) {
  if (!(options.learning_rate > 0 && options.learning_rate <= kLargestLearningRate)) {
    return absl::InvalidArgumentError(absl::StrCat("learning_rate: got ", options.learning_rate,
                                                   ", want a number in (0, ", kLargestLearningRate,
                                                   "]"));
  }
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("momentum: got ", options.momentum, ", want a number in [0, 1)"));
  }
  return Sgd(options, parameter_count);
}

template <class T>
Sgd<T>::Sgd(const SgdOptions& options, Eigen::Index parameter_count)
    : options_(options), velocity_(Vector<T>::Zero(parameter_count)) {}

template <class T>
void Sgd<T>::Step(const Vector<T>& gradient, Vector<T>* parameters) {
  velocity_ = static_cast<T>(options_.momentum) * velocity_ + gradient;
  *parameters -= static_cast<T>(options_.learning_rate) * velocity_;
}

template <class T>
absl::Status Sgd<T>::SetVelocity(Vector<T> velocity) {
  if (velocity.size() != velocity_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("velocity: got ", velocity.size(), " entries, want ", velocity_.size()));
  }
  velocity_ = std::move(velocity);
  return absl::OkStatus();
}

template class Sgd<float>;
template class Sgd<double>;

}  // namespace epsledger::trainers::network
