#include "client/trainers/run/poisson_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace epsledger::trainers {
namespace {

// 7 standard deviations of a binomial: a right sampler fails once in 10^11 tests.
double Allowance(double draws, double probability) {
  return 7 * std::sqrt(draws * probability * (1 - probability)) + 1;
}

TEST(PoissonSampler, TakesEachRecordAndEachPairOfRecordsIndependently) {
  constexpr int kRecords = 40;
  constexpr int kBatches = 20'000;
  constexpr double kProbability = 0.3;
  absl::StatusOr<PoissonSampler> sampler = PoissonSampler::Create(kProbability, kRecords);
  ASSERT_TRUE(sampler.ok());
  std::vector<int> present(kRecords, 0);
  std::vector<int> with_next(kRecords, 0);
  double squared_sizes = 0;
  for (int i = 0; i < kBatches; ++i) {
    const absl::StatusOr<std::vector<int>> batch = sampler->Draw();
    ASSERT_TRUE(batch.ok());
    ASSERT_TRUE(std::is_sorted(batch->begin(), batch->end()));
    squared_sizes += std::pow(static_cast<double>(batch->size()) - kRecords * kProbability, 2);
    for (const int record : *batch) {
      ++present[record];
      if (std::binary_search(batch->begin(), batch->end(), (record + 1) % kRecords)) {
        ++with_next[record];
      }
    }
  }
  for (int record = 0; record < kRecords; ++record) {
    EXPECT_NEAR(present[record], kBatches * kProbability, Allowance(kBatches, kProbability));
    EXPECT_NEAR(with_next[record], kBatches * kProbability * kProbability,
                Allowance(kBatches, kProbability * kProbability));
  }
  // The batch's size varies as a binomial: a fixed size would be another event.
  EXPECT_NEAR(squared_sizes / kBatches, kRecords * kProbability * (1 - kProbability), 0.6);
}

TEST(PoissonSampler, TakesEveryRecordAtOneAndNoneWhereAWordCannotBeSmallEnough) {
  EXPECT_THAT(*PoissonSampler::Create(1, 4)->Draw(), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(*PoissonSampler::Create(0.5, 0)->Draw(), testing::IsEmpty());
  EXPECT_THAT(*PoissonSampler::Create(std::numeric_limits<double>::denorm_min(), 5'000)->Draw(),
              testing::IsEmpty());
}

TEST(PoissonSampler, RefusesWhatIsNoProbability) {
  for (const double probability : {0.0, -0.1, 1.0000001, std::nan("")}) {
    const absl::StatusOr<PoissonSampler> sampler = PoissonSampler::Create(probability, 3);
    EXPECT_EQ(sampler.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(sampler.status().message()),
                testing::StartsWith("sampling_probability: got "));
  }
  EXPECT_EQ(PoissonSampler::Create(0.5, -1).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::trainers
