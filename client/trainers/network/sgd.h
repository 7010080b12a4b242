#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_SGD_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_SGD_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

struct SgdOptions {
  double learning_rate = 0;  // in (0, 1e12]
  double momentum = 0;       // in [0, 1)
};

// Heavy-ball gradient descent: velocity <- momentum * velocity + gradient, parameters <- parameters
// - learning_rate * velocity, from velocity 0. Post-processing of the gradients it is given: it
// costs no budget if these were released.
template <class T>
class Sgd {
 public:
  // INVALID_ARGUMENT that names the field unless `options` are in their domains.
  static absl::StatusOr<Sgd> Create(const SgdOptions& options, Eigen::Index parameter_count);

  // Takes one step. REQUIRES: both have parameter_count entries.
  void Step(const Vector<T>& gradient, Vector<T>* parameters);

  // A checkpoint must hold this in addition to the parameters.
  const Vector<T>& velocity() const { return velocity_; }
  // INVALID_ARGUMENT unless the size is the same.
  absl::Status SetVelocity(Vector<T> velocity);

 private:
  Sgd(const SgdOptions& options, Eigen::Index parameter_count);

  SgdOptions options_;
  Vector<T> velocity_;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_SGD_H_
