#include "client/trainers/run/charged_normal.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers {
namespace {

constexpr Eigen::Index kMostDraws = Eigen::Index{1} << 24;

// In (0, 1]: 53 bits, and never 0.
double Uniform(std::uint64_t word) { return (static_cast<double>(word >> 11) + 1) * 0x1p-53; }

}  // namespace

absl::StatusOr<Eigen::VectorXd> DrawChargedNormals(Permit permit, double standard_deviation,
                                                   Eigen::Index size) {
  const Permit spent = std::move(permit);
  if (spent.uses_left() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("permit: got one of ", spent.uses_left(), " uses, want one of 1"));
  }
  if (size < 1 || size > kMostDraws) {
    return absl::InvalidArgumentError(
        absl::StrCat("size: got ", size, ", want in [1, ", kMostDraws, "]"));
  }
  if (!(std::isfinite(standard_deviation) && standard_deviation > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("standard_deviation: got ", standard_deviation, ", want a finite number > 0"));
  }
  std::vector<std::uint64_t> words(2 * static_cast<std::size_t>(size));
  if (RAND_bytes(reinterpret_cast<unsigned char*>(words.data()),
                 static_cast<int>(words.size() * sizeof(std::uint64_t))) != 1) {
    return absl::InternalError("the operating system gave no randomness");
  }
  Eigen::VectorXd draws(size);
  for (Eigen::Index k = 0; k < size; ++k) {
    const auto at = 2 * static_cast<std::size_t>(k);
    draws[k] = standard_deviation * std::sqrt(-2 * std::log(Uniform(words[at]))) *
               std::cos(2 * std::numbers::pi * Uniform(words[at + 1]));
  }
  OPENSSL_cleanse(words.data(), words.size() * sizeof(std::uint64_t));
  return draws;
}

}  // namespace epsledger::trainers
