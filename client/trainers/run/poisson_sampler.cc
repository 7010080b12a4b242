#include "client/trainers/run/poisson_sampler.h"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers {

PoissonSampler::PoissonSampler(double sampling_probability, int64_t record_count)
    : sampling_probability_(sampling_probability),
      record_count_(record_count),
      always_(sampling_probability == 1),
      // Scaling by 2^64 is exact and the conversion rounds down: P[word < threshold] <= p.
      threshold_(always_ ? 0 : static_cast<uint64_t>(std::ldexp(sampling_probability, 64))) {}

absl::StatusOr<PoissonSampler> PoissonSampler::Create(double sampling_probability,
                                                      int64_t record_count) {
  if (!(sampling_probability > 0 && sampling_probability <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sampling_probability: got ", sampling_probability, ", want in (0, 1]"));
  }
  if (record_count < 0 || record_count > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("record_count: got ", record_count, ", want in [0, 2^31)"));
  }
  return PoissonSampler(sampling_probability, record_count);
}

absl::StatusOr<std::vector<int>> PoissonSampler::Draw() {
  std::vector<int> batch;
  if (always_) {
    batch.resize(static_cast<size_t>(record_count_));
    std::iota(batch.begin(), batch.end(), 0);
    return batch;
  }
  std::array<uint64_t, 512> words{};
  for (int64_t record = 0; record < record_count_; ++record) {
    const auto word = static_cast<size_t>(record) % words.size();
    if (word == 0 && RAND_bytes(reinterpret_cast<unsigned char*>(words.data()),
                                static_cast<int>(sizeof(words))) != 1) {
      return absl::InternalError("the operating system gave no randomness for a Poisson sample");
    }
    if (words[word] < threshold_) batch.push_back(static_cast<int>(record));
  }
  OPENSSL_cleanse(words.data(), sizeof(words));
  return batch;
}

}  // namespace epsledger::trainers
