#include "epsledger/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <openssl/crypto.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cpp/normal_sampler.h"

namespace epsledger {
namespace {

// Results are multiples of 2^-40 times the power of two at or below the standard deviation.
constexpr int kGridBits = 40;

absl::Status CheckOneUse(const Permit& permit) {
  if (permit.uses_left() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("permit.uses_left: got ", permit.uses_left(),
                   ", want exactly 1 (Permit::TakeOne splits a larger permit)"));
}

// Wipes values that would reveal the noise together with the numbers that they were added to.
void Wipe(std::span<double> values) { OPENSSL_cleanse(values.data(), values.size_bytes()); }

}  // namespace

absl::Status AddGaussianNoise(Permit permit, double contribution, std::span<double> sum) {
  const std::optional<double> noise_multiplier = permit.mechanism().gaussian_noise_multiplier();
  if (!noise_multiplier.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("permit.mechanism: got ",
                                                   permit.mechanism().ToJson(),
                                                   ", want gaussian or poissonSampled{gaussian}"));
  }
  RETURN_IF_ERROR(CheckOneUse(permit));
  if (!std::isnormal(contribution) || contribution <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("contribution: got ", contribution, ", want in (0, inf)"));
  }
  const double deviation = *noise_multiplier * contribution;
  if (!std::isnormal(deviation) || deviation <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("noise multiplier * contribution: got ",
                                                   deviation, ", want a positive normal number"));
  }
  // Near the smallest double the grid would be subnormal or zero.
  const double grid = std::ldexp(1.0, std::ilogb(deviation) - kGridBits);
  if (!std::isnormal(grid)) {
    return absl::InvalidArgumentError(
        absl::StrCat("noise multiplier * contribution: got ", deviation, ", want at least 1e-295"));
  }
  for (size_t i = 0; i < sum.size(); ++i) {
    if (!std::isfinite(sum[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("sum[", i, "]: got ", sum[i], ", want a finite number"));
    }
  }

  // Nothing is written before all of it is known to be good: a partly noised sum must not exist.
  std::vector<double> noised(sum.size());
  NormalSampler sampler;
  absl::Status result;
  const double inverse_grid = 1 / grid;  // exact: a power of two
  std::array<double, 2> draws{};
  for (size_t i = 0; i < sum.size() && result.ok(); ++i) {
    if (i % 2 == 0) draws = sampler.DrawTwo();
    const double value = sum[i] + deviation * draws[i % 2];
    // A double that is no finer than the grid is on the grid already.
    const double steps = value * inverse_grid;
    noised[i] = std::abs(steps) < 0x1p52 ? std::nearbyint(steps) * grid : value;
    if (!std::isfinite(noised[i])) {
      result = absl::OutOfRangeError(absl::StrCat("sum[", i, "]: overflows with noise"));
    }
  }
  Wipe(draws);
  if (!sampler.status().ok()) result = sampler.status();
  if (result.ok()) {
    std::copy(noised.begin(), noised.end(), sum.begin());
  }
  Wipe(noised);
  return result;
}

absl::Status DrawGaussianNoise(Permit permit, double standard_deviation, std::span<double> draws) {
  const Permit spent = std::move(permit);
  RETURN_IF_ERROR(CheckOneUse(spent));
  if (!std::isnormal(standard_deviation) || standard_deviation <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("standard_deviation: got ", standard_deviation,
                                                   ", want a positive normal number"));
  }
  std::vector<double> drawn(draws.size());
  NormalSampler sampler;
  absl::Status result;
  std::array<double, 2> two{};
  for (size_t i = 0; i < drawn.size() && result.ok(); ++i) {
    if (i % 2 == 0) two = sampler.DrawTwo();
    drawn[i] = standard_deviation * two[i % 2];
    if (!std::isfinite(drawn[i])) {
      result = absl::OutOfRangeError(absl::StrCat("draws[", i, "]: overflows"));
    }
  }
  Wipe(two);
  if (!sampler.status().ok()) result = sampler.status();
  if (result.ok()) std::copy(drawn.begin(), drawn.end(), draws.begin());
  Wipe(drawn);
  return result;
}

}  // namespace epsledger
