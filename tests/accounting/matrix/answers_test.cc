#include <cmath>

#include "accounting/answer.h"
#include "accounting/matrix/sensitivity.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

MatrixMechanism FourEpochs() {
  MatrixMechanism mechanism;
  mechanism.noise_multiplier = 4;
  mechanism.strategy = MatrixStrategy::kSquareRoot;
  mechanism.steps = 200;
  mechanism.max_participations = 4;
  mechanism.min_separation = 50;
  mechanism.bands = 100;
  return mechanism;
}

// The Gaussian release that the whole run is, up to the rounding of its noise.
MechanismEvent OneRelease(const MatrixMechanism& mechanism) {
  return Gaussian{mechanism.noise_multiplier / MatrixSensitivity(mechanism).upper};
}

TEST(MatrixMechanismAnswers, AreThoseOfOneGaussianRelease) {
  const MechanismEvent run = FourEpochs();
  const MechanismEvent release = OneRelease(FourEpochs());
  for (const Accountant accountant :
       {Accountant::kGaussian, Accountant::kPld, Accountant::kTradeOff, Accountant::kRenyi,
        Accountant::kMoments, Accountant::kZcdp, Accountant::kBest}) {
    for (const NeighboringRelation relation :
         {NeighboringRelation::kAddOrRemoveOne, NeighboringRelation::kReplaceOne,
          NeighboringRelation::kReplaceSpecial}) {
      Question question = AskEpsilon(accountant, run, 1, 1e-6);
      question.relation = relation;
      const absl::StatusOr<Guarantee> answer = Answer(question);
      question.events[0].event = release;
      const absl::StatusOr<Guarantee> wanted = Answer(question);
      ASSERT_TRUE(answer.ok()) << answer.status();
      ASSERT_TRUE(wanted.ok()) << wanted.status();
      EXPECT_NEAR(*answer->upper / *wanted->upper, 1, 1e-3);
    }
  }
}

TEST(MatrixMechanismAnswers, AreThoseOfOneGaussianReleaseOnASample) {
  const MechanismEvent run = PoissonSampled{0.1, MechanismEvent(FourEpochs())};
  const MechanismEvent release = PoissonSampled{0.1, OneRelease(FourEpochs())};
  const absl::StatusOr<Guarantee> answer = Answer(AskEpsilon(Accountant::kBest, run, 3, 1e-6));
  const absl::StatusOr<Guarantee> wanted = Answer(AskEpsilon(Accountant::kBest, release, 3, 1e-6));
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  EXPECT_NEAR(*answer->upper / *wanted->upper, 1, 1e-3);
}

TEST(MatrixMechanismAnswers, FallWithMoreNoise) {
  Question question = Ask(Accountant::kGaussian, {{MechanismEvent(FourEpochs()), 1}},
                          EpsilonAtDelta::FromDelta(1e-6));
  const absl::StatusOr<Guarantee> at_four = Answer(question);
  ASSERT_TRUE(at_four.ok()) << at_four.status();
  MatrixMechanism noisier = FourEpochs();
  noisier.noise_multiplier = 4.1;
  question.events[0].event = MechanismEvent(noisier);
  const absl::StatusOr<Guarantee> more_noise = Answer(question);
  ASSERT_TRUE(more_noise.ok()) << more_noise.status();
  EXPECT_LT(*more_noise->upper, *at_four->lower);
}

}  // namespace
}  // namespace epsledger::accounting
