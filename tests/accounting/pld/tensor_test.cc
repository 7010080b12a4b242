// Trade-off functions of compositions, read off privacy loss distributions.

#include <algorithm>
#include <vector>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/pld/tensor_rows.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

// The widest bracket; every row was within it when the lattice was written.
constexpr double kWidth = 3e-5;
// The truth is given to about 1e-12.
constexpr double kTruth = 1e-11;

void ExpectBracket(const Question& question, double truth) {
  const auto answer = Answer(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->lower.has_value() && answer->upper.has_value());
  EXPECT_LE(*answer->lower, truth + kTruth);
  EXPECT_GE(*answer->upper, truth - kTruth);
  EXPECT_LE(*answer->upper - *answer->lower, kWidth);
}

TEST(TensorProduct, OfLaplaceIsBracketed) {
  for (const LaplaceTensorRow& row : kLaplaceTensorRows) {
    SCOPED_TRACE(testing::Message()
                 << row.count << " of theta " << row.theta << " at " << row.type_one_error);
    ExpectBracket(Ask(Accountant::kPld, {{MechanismEvent(Laplace{1 / row.theta}), row.count}},
                      TypeTwoErrorAt{row.type_one_error}),
                  row.value);
  }
}

TEST(TensorProduct, OfAGaussianAndAnotherEventIsBracketed) {
  for (const TensorPoint& row : kGaussianAndLaplaceRows) {
    SCOPED_TRACE(testing::Message() << "laplace at " << row.type_one_error);
    ExpectBracket(
        Ask(Accountant::kPld, {{MechanismEvent(GaussianDp{1}), 1}, {MechanismEvent(Laplace{2}), 1}},
            TypeTwoErrorAt{row.type_one_error}),
        row.value);
  }
  for (const TensorPoint& row : kGaussianAndPureRows) {
    SCOPED_TRACE(testing::Message() << "pure at " << row.type_one_error);
    ExpectBracket(Ask(Accountant::kPld,
                      {{MechanismEvent(GaussianDp{0.5}), 1}, {MechanismEvent(PureDp{0.3}), 4}},
                      TypeTwoErrorAt{row.type_one_error}),
                  row.value);
  }
}

TEST(TensorProduct, OfASampledGaussianHasTwoDirections) {
  for (const SampledTensorRow& row : kSampledTensorRows) {
    SCOPED_TRACE(testing::Message() << (row.mixture_first ? "T(mix, N) of " : "T(N, mix) of ")
                                    << row.count << " at " << row.sampling_probability << ", "
                                    << row.noise_multiplier << " at " << row.type_one_error);
    Question question =
        Ask(Accountant::kPld,
            {{SampledGaussianEvent(row.sampling_probability, row.noise_multiplier), row.count}},
            TypeTwoErrorAt{row.type_one_error});
    question.adjacency = row.mixture_first ? Adjacency::kAdd : Adjacency::kRemove;
    ExpectBracket(question, row.value);
    // The inverse of one direction is the function of the other one.
    question.adjacency = row.mixture_first ? Adjacency::kRemove : Adjacency::kAdd;
    question.query = InverseTypeTwoErrorAt{row.type_one_error};
    ExpectBracket(question, row.value);
  }
}

// Without a direction: the lower convex envelope of both, below either.
TEST(TensorProduct, OfASampledGaussianWithoutADirectionIsBelowBoth) {
  for (const SampledTensorRow& row : kSampledTensorRows) {
    const auto both = Answer(
        Ask(Accountant::kPld,
            {{SampledGaussianEvent(row.sampling_probability, row.noise_multiplier), row.count}},
            TypeTwoErrorAt{row.type_one_error}));
    ASSERT_TRUE(both.ok()) << both.status();
    EXPECT_LE(*both->lower, row.value + kTruth);
  }
}

}  // namespace
}  // namespace epsledger::accounting
