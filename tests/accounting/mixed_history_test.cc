// Histories of different mechanisms, randomized response among them, against contour integrals in
// 80-bit arithmetic with no grid on the privacy loss (relative error 1e-12 or better).

#include <cmath>
#include <vector>

#include "accounting/answer.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

struct Row {
  double given, truth;
};

void ExpectEpsilons(Question question, const std::vector<Row>& rows, double width) {
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::Message() << "delta " << row.given << " truth " << row.truth);
    question.query = EpsilonAtDelta::FromDelta(row.given);
    const auto answer = Answer(question);
    ASSERT_TRUE(answer.ok()) << answer.status();
    if (row.truth == kInfinity) {
      EXPECT_EQ(*answer->upper, kInfinity);
      continue;
    }
    EXPECT_GE(*answer->upper, row.truth * (1 - 1e-12));
    EXPECT_LE(*answer->lower, row.truth * (1 + 1e-12));
    EXPECT_LE(*answer->upper - *answer->lower, width * *answer->upper);
  }
}

void ExpectDeltas(Question question, const std::vector<Row>& rows, double width) {
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::Message() << "epsilon " << row.given << " truth " << row.truth);
    question.query = DeltaAtEpsilon{row.given};
    const auto answer = Answer(question);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_GE(*answer->log_upper, std::log(row.truth) - 1e-10);
    EXPECT_LE(*answer->log_lower, std::log(row.truth) + 1e-10);
    EXPECT_LE(*answer->log_upper - *answer->log_lower, width);
  }
}

TEST(MixedHistory, OfAGaussianAndRandomizedResponse) {
  // A replaced record moves the mean by two contributions: noise multiplier 3 acts as 1.5.
  Question question =
      Ask(Accountant::kPld,
          {{MechanismEvent(Gaussian{3}), 1}, {MechanismEvent(RandomizedResponse{0.5, 2}), 1}}, {});
  question.relation = NeighboringRelation::kReplaceOne;
  ExpectEpsilons(
      question,
      {{1e-4, 3.41131495509240041}, {2e-6, 4.05408722826819426}, {1e-9, 5.0309537989909285}}, 1e-3);
  ExpectDeltas(question,
               {{1.62, 7.79312322473565038e-2},
                {4.05, 2.05591509481622772e-6},
                {6.49, 2.5762689269122576e-16}},
               2e-3);
}

// The loss of answering the truth with probability p and the other of two otherwise is that of a
// log(p / (1 - p))-DP event, which add-or-remove-one knows too.
Question AllKinds(Adjacency adjacency) {
  Question question = Ask(Accountant::kPld,
                          {{MechanismEvent(Gaussian{10}), 20},
                           {MechanismEvent(Laplace{20}), 30},
                           {SampledGaussianEvent(0.005, 0.9), 10000},
                           {MechanismEvent(PureDp{std::log(0.525 / 0.475)}), 10},
                           {MechanismEvent(ApproximateDp{0.01, 1e-9}), 5}},
                          {});
  question.adjacency = adjacency;
  return question;
}

// Atoms that share no lattice: what is lowered at one of them may not weigh on what lies beyond.
constexpr double kAllKindsWidth = 1e-3;

TEST(MixedHistory, OfAllKindsWhereARecordIsRemoved) {
  const Question question = AllKinds(Adjacency::kRemove);
  ExpectEpsilons(question,
                 {{1e-4, 3.83245311373459518}, {2e-6, 4.80936218984641276}, {1e-9, kInfinity}},
                 kAllKindsWidth);
  ExpectDeltas(question, {{4.81, 1.99442679913791333e-6}, {7.69, 5.00035429862212344e-9}}, 2e-3);
}

TEST(MixedHistory, OfAllKindsWhereARecordIsAdded) {
  const Question question = AllKinds(Adjacency::kAdd);
  ExpectEpsilons(question,
                 {{1e-4, 3.62868763286569466}, {2e-6, 4.49921184582053766}, {1e-9, kInfinity}},
                 kAllKindsWidth);
  ExpectDeltas(question, {{4.81, 4.04738227484512192e-7}, {7.69, 5.00000043547045635e-9}}, 2e-3);
}

}  // namespace
}  // namespace epsledger::accounting
