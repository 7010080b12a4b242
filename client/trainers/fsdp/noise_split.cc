#include "client/trainers/fsdp/noise_split.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers::fsdp {
namespace {

// Covers the rounding errors of shares and of their squares.
constexpr double kMargin = 1 - 1e-12;

}  // namespace

absl::StatusOr<NoiseShares> SplitNoise(const NoiseSplitOptions& options, double noise_multiplier) {
  if (!(noise_multiplier > 0) || !std::isfinite(noise_multiplier)) {
    return absl::InvalidArgumentError(
        absl::StrCat("noise_multiplier: got ", noise_multiplier, ", want in (0, inf)"));
  }
  if (!(options.embedding_fraction >= 0 && options.embedding_fraction < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("embedding_fraction: got ", options.embedding_fraction, ", want in [0, 1)"));
  }
  if (options.indicator_count < 0 || options.indicator_count > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("indicator_count: got ", options.indicator_count, ", want in [0, 2]"));
  }
  NoiseShares shares{.indicator_count = options.indicator_count};
  double left = kMargin;
  if (options.indicator_count > 0) {
    if (!(options.indicator_noise > 0) || !std::isfinite(options.indicator_noise)) {
      return absl::InvalidArgumentError(
          absl::StrCat("indicator_noise: got ", options.indicator_noise, ", want in (0, inf)"));
    }
    // The grid of 2^-30 makes every sum of indicators exact.
    shares.indicator = std::ldexp(
        std::floor(std::ldexp(noise_multiplier / (2 * options.indicator_noise), 30)), -30);
    left -= options.indicator_count * shares.indicator * shares.indicator;
    if (!(left > 0.5)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "indicator_noise: got ", options.indicator_noise,
          ", want more: the indicators would take half of the noise that the step is charged for"));
    }
  }
  shares.embedding = std::sqrt(left * options.embedding_fraction) * kMargin;
  shares.residual = std::sqrt(left * (1 - options.embedding_fraction)) * kMargin;
  return shares;
}

double JointNoiseMultiplier(double first, double second) {
  return 1 / std::hypot(1 / first, 1 / second);
}

}  // namespace epsledger::trainers::fsdp
