#ifndef EPSLEDGER_MECHANISM_H_
#define EPSLEDGER_MECHANISM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace epsledger {

struct MechanismMessage;  // internal
struct CountedMechanism;
struct PairOfLaws;

// A mechanism event: an immutable description that fully defines the mathematics of one release.
//
// Copying is cheap, and copies are independent. The server validates events, this class does not:
// charging an event outside its domain (a noise multiplier of -1, say) is INVALID_ARGUMENT, and the
// message names the field, the value and the domain. Safe to share among threads.
class Mechanism {
 public:
  // N(0, (noise_multiplier * contribution)^2) added to each coordinate of a sum in which one record
  // has L2 norm at most `contribution`. In [0, inf); 0 is no privacy.
  static Mechanism Gaussian(double noise_multiplier);
  // Laplace noise of scale noise_multiplier * (largest L1 contribution of one record). In [0, inf);
  // 0 is no privacy.
  static Mechanism Laplace(double noise_multiplier);
  // `mechanism` on a sample that holds each record independently with this probability, in [0, 1];
  // 0 releases nothing.
  // Valid for Poisson sampling only: shuffled or fixed-size batches are other events.
  static Mechanism PoissonSampled(double sampling_probability, const Mechanism& mechanism);
  // Any (epsilon, 0)-DP mechanism. In [0, inf).
  static Mechanism PureDp(double epsilon);
  // Any (epsilon, delta)-DP mechanism. epsilon in [0, inf), delta in [0, 1].
  static Mechanism ApproximateDp(double epsilon, double delta);
  // Any mechanism with Renyi divergence <= rho * order at every order > 1. In [0, inf).
  static Mechanism Zcdp(double rho);
  // Any mu-GDP mechanism. In [0, inf).
  static Mechanism GaussianDp(double mu);
  // Any mechanism that is dominated by a pair of output laws on finitely many outcomes.
  static Mechanism DominatingPair(const PairOfLaws& laws);
  // A release without any privacy, and the reason. A published algorithm whose guarantee is not
  // proven starts with it. From then on every epsilon of the session is infinite. The budget and
  // all budgets above it must have a NoGuaranteeCap. `reason` is up to 256 bytes.
  static Mechanism NonPrivate(std::string_view reason);
  // The sequence of its parts. Up to 10,000 of them; none release nothing.
  static Mechanism Composed(const std::vector<CountedMechanism>& parts);

  // Parses the proto3 JSON of epsledger.v1.MechanismEvent, for example
  // {"poissonSampled": {"samplingProbability": 0.01, "event": {"gaussian": {"noiseMultiplier":
  // 1}}}}. Knows every event of the API. INVALID_ARGUMENT for text that is not JSON of RFC 8259,
  // for a key that appears twice in one object, for unknown fields and unknown events, and for an
  // empty event.
  static absl::StatusOr<Mechanism> FromJson(std::string_view json);

  // The proto3 JSON, on one line. FromJson(ToJson()) is equal to *this.
  std::string ToJson() const;

  // Returns the noise multiplier of a gaussian event, or of the gaussian directly inside a
  // poissonSampled one; nullopt for any other event.
  std::optional<double> gaussian_noise_multiplier() const;

  // Equal if every field is, numbers exactly. A NaN is unequal to itself.
  friend bool operator==(const Mechanism& left, const Mechanism& right);

 private:
  friend struct MechanismMessage;
  explicit Mechanism(std::shared_ptr<const MechanismMessage> message);

  std::shared_ptr<const MechanismMessage> message_;  // never null
};

// `count` uses of `mechanism` in sequence, parameters fixed. In [1, 2^53].
struct CountedMechanism {
  Mechanism mechanism;
  int64_t count = 1;
};

// Two laws on the same outcomes, 1 to 10,000 probabilities in [0, 1] each. `first` is the output
// law with the privacy unit, `second` without it; under replace-one each use counts in its worse
// order. A law is divided by its sum, 1 + 2^-40 at most. What a sum below 1 - 2^-48 leaves out,
// 1e-9 at most, counts as revealed instead: round down what is known to fewer digits.
struct PairOfLaws {
  std::vector<double> first;
  std::vector<double> second;
};

}  // namespace epsledger

#endif  // EPSLEDGER_MECHANISM_H_
