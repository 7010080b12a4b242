#ifndef EPSLEDGER_CLIENT_CPP_NORMAL_SAMPLER_H_
#define EPSLEDGER_CLIENT_CPP_NORMAL_SAMPLER_H_

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"

namespace epsledger {

// Standard normal numbers from a keystream: AES-256 in counter mode [SP 800-38A]. OpenSSL's
// RAND_bytes gives each sampler a new key and counter. There is no seed.
//
// Words are wiped when they are used up or when the sampler is destroyed, and so is the key. If no
// randomness is available, status() becomes an error for good, and all later numbers must not be
// used: check status() AFTER the last draw and before anything is released. Not thread-safe, and
// not for use on both sides of a fork.
class NormalSampler {
 public:
  NormalSampler();
  NormalSampler(const NormalSampler&) = delete;
  NormalSampler& operator=(const NormalSampler&) = delete;
  ~NormalSampler();

  // Returns two independent standard normals. Each is (g1 + g2 + g3 + g4) / 2 of four standard
  // normals from four independent Box-Muller pairs: the first of their cosine halves, the second
  // of their sine halves. noise.h says why.
  std::array<double, 2> DrawTwo();

  // OK, or INTERNAL if there was no randomness.
  const absl::Status& status() const { return status_; }

 private:
  uint64_t Word() {
    if (next_ == kWords) Refill();
    return words_[next_++];
  }
  void Refill();
  // Returns a number in (0, 1) with 53 significant bits at any magnitude: the exponent is
  // geometric.
  double Uniform();
  void Fail();

  struct FreeCipher {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };

  static constexpr size_t kWords = 512;
  std::array<uint64_t, kWords> words_{};
  size_t next_ = kWords;  // words before this one are used up
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> cipher_;
  absl::Status status_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_NORMAL_SAMPLER_H_
