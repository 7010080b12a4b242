#include "client/cpp/normal_sampler.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace epsledger {
namespace {

constexpr int kKeyBytes = 32;
constexpr int kCounterBytes = 16;
constexpr int kMantissaBits = 52;

}  // namespace

NormalSampler::NormalSampler() : cipher_(EVP_CIPHER_CTX_new()) {
  std::array<unsigned char, kKeyBytes + kCounterBytes> secret{};
  if (cipher_ == nullptr || RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1 ||
      EVP_EncryptInit_ex(cipher_.get(), EVP_aes_256_ctr(), nullptr, secret.data(),
                         secret.data() + kKeyBytes) != 1) {
    Fail();
  }
  OPENSSL_cleanse(secret.data(), secret.size());
}

NormalSampler::~NormalSampler() { OPENSSL_cleanse(words_.data(), sizeof(words_)); }

void NormalSampler::Fail() {
  status_ = absl::InternalError(
      "OpenSSL has no randomness: no noise can be drawn and nothing may be released");
  cipher_.reset();
}

void NormalSampler::Refill() {
  next_ = 0;
  words_.fill(0);
  if (cipher_ != nullptr) {
    int written = 0;
    auto* bytes = reinterpret_cast<unsigned char*>(words_.data());
    if (EVP_EncryptUpdate(cipher_.get(), bytes, &written, bytes, sizeof(words_)) == 1 &&
        written == static_cast<int>(sizeof(words_))) {
      return;
    }
    Fail();
  }
  words_.fill(1);  // any word but 0, on which Uniform would wait for a 1 bit
}

double NormalSampler::Uniform() {
  // The first 1 bit of an endless random string gives the binade, so that small numbers come with
  // their true probabilities; the 52 bits after it give the place in it.
  int exponent = 1;
  uint64_t word = Word();
  while (word == 0) {
    exponent += 64;
    word = Word();
  }
  const int zeros = std::countl_zero(word);
  exponent += zeros;
  // Shifts the first 1 bit out. If fewer than 52 bits are left, another word supplies them.
  uint64_t mantissa = 0;
  if (zeros <= 63 - kMantissaBits) {
    mantissa = ((word << zeros) << 1) >> (64 - kMantissaBits);
  } else {
    mantissa = Word() >> (64 - kMantissaBits);
  }
  // 2^-exponent (1 + mantissa 2^-52), put together from its bits if it is a normal number.
  if (exponent < 1022) {
    const auto biased = static_cast<uint64_t>(1023 - exponent);
    return std::bit_cast<double>((biased << kMantissaBits) | mantissa);
  }
  return std::ldexp(1.0 + std::ldexp(static_cast<double>(mantissa), -kMantissaBits), -exponent);
}

std::array<double, 2> NormalSampler::DrawTwo() {
  std::array<double, 4> first{};
  std::array<double, 4> second{};
  for (size_t pair = 0; pair < first.size(); ++pair) {
    const double radius = std::sqrt(-2.0 * std::log(Uniform()));
    const double turn = static_cast<double>(Word() >> 11) * 0x1p-53;
    const double angle = 2.0 * std::numbers::pi * turn;
    first[pair] = radius * std::cos(angle);
    second[pair] = radius * std::sin(angle);
  }
  return {((first[0] + first[1]) + (first[2] + first[3])) / 2.0,
          ((second[0] + second[1]) + (second[2] + second[3])) / 2.0};
}

}  // namespace epsledger
