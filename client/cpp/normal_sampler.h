#ifndef EPSLEDGER_CLIENT_CPP_NORMAL_SAMPLER_H_
#define EPSLEDGER_CLIENT_CPP_NORMAL_SAMPLER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace epsledger {

// Standard normal numbers from OpenSSL's RAND_bytes. There is no seed.
//
// Bytes come in blocks, and are wiped when used up or at the end of the sampler's life. A block
// that cannot be had makes status() an error for good, and every number from then on is worthless:
// check status() AFTER the last draw and before anything is released. Not thread-safe.
class NormalSampler {
 public:
  NormalSampler() = default;
  NormalSampler(const NormalSampler&) = delete;
  NormalSampler& operator=(const NormalSampler&) = delete;
  ~NormalSampler();

  // Returns (g1 + g2 + g3 + g4) / 2 of four independent standard normals; see noise.h for why.
  double Draw();

  // OK, or INTERNAL if the operating system gave no randomness.
  const absl::Status& status() const { return status_; }

 private:
  std::uint64_t Word();
  // In (0, 1), with 53 significant bits at any magnitude: the exponent is geometric.
  double Uniform();
  // sqrt(-2 ln u) cos(2 pi v), the cosine half of a Box-Muller pair.
  double SingleDraw();

  static constexpr std::size_t kWords = 512;
  std::array<std::uint64_t, kWords> words_{};
  std::size_t next_ = kWords;  // words before this one are used up
  absl::Status status_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_NORMAL_SAMPLER_H_
