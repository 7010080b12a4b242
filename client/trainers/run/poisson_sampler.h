#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_POISSON_SAMPLER_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_POISSON_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace epsledger::trainers {

// Draws batches in which each record is present independently with probability <= p and >= p -
// 2^-64, where p is the sampling probability that is charged. (A smaller probability r never
// weakens the guarantee of a poissonSampled event: sampling with p and then again with r / p is
// sampling with r, and the bound for p covers a mechanism that uses fewer records.)
//
// The randomness is OpenSSL's RAND_bytes; there is no seed. A batch may be empty. Its records and
// their number are private. Not thread-safe.
class PoissonSampler {
 public:
  // INVALID_ARGUMENT unless sampling_probability is in (0, 1] and record_count in [0, 2^31).
  static absl::StatusOr<PoissonSampler> Create(double sampling_probability, int64_t record_count);

  // Returns the numbers of the records in the next batch, ascending. INTERNAL if the operating
  // system gave no randomness. O(record_count), 8 bytes of randomness a record.
  absl::StatusOr<std::vector<int>> Draw();

  double sampling_probability() const { return sampling_probability_; }

 private:
  PoissonSampler(double sampling_probability, int64_t record_count);

  double sampling_probability_;
  int64_t record_count_;
  bool always_;         // sampling probability 1
  uint64_t threshold_;  // present if a uniform word is below
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_POISSON_SAMPLER_H_
