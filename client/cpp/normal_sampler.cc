#include "client/cpp/normal_sampler.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace epsledger {

NormalSampler::~NormalSampler() { OPENSSL_cleanse(words_.data(), sizeof(words_)); }

std::uint64_t NormalSampler::Word() {
  if (next_ == kWords) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(words_.data()), sizeof(words_)) != 1) {
      status_ = absl::InternalError(
          "OpenSSL has no randomness: no noise can be drawn and nothing may be released");
      words_.fill(1);  // any word but 0, on which Uniform would wait for a 1 bit
    }
    next_ = 0;
  }
  return words_[next_++];
}

double NormalSampler::Uniform() {
  // The first 1 bit of an endless random string gives the binade, so that small numbers come with
  // their true probabilities; 52 further bits give the place in it.
  int exponent = 1;
  std::uint64_t word = Word();
  while (word == 0) {
    exponent += 64;
    word = Word();
  }
  exponent += std::countl_zero(word);
  const double fraction = static_cast<double>(Word() >> 12) * 0x1p-52;
  return std::ldexp(1.0 + fraction, -exponent);
}

double NormalSampler::SingleDraw() {
  const double radius = std::sqrt(-2.0 * std::log(Uniform()));
  const double turn = static_cast<double>(Word() >> 11) * 0x1p-53;
  return radius * std::cos(2.0 * std::numbers::pi * turn);
}

double NormalSampler::Draw() {
  const double first = SingleDraw() + SingleDraw();
  const double second = SingleDraw() + SingleDraw();
  return (first + second) / 2.0;
}

}  // namespace epsledger
