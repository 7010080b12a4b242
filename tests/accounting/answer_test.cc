#include <cmath>
#include <limits>

#include "accounting/accountant.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string Message(const Question& question) {
  return std::string(Answer(question).status().message());
}

Accountant Numbered(int i) { return static_cast<Accountant>(i); }

TEST(Answer, ValidatesEveryFieldOfTheQuestion) {
  const std::vector<CountedEvent> events = {{MechanismEvent(Gaussian{1}), 1}};
  const auto with = [&](Query query) { return Ask(Accountant::kGaussian, events, query); };
  EXPECT_EQ(Message(with(EpsilonAtDelta::FromDelta(1.5))),
            "query.epsilonAtDelta: got 1.5, want in [0, 1]");
  EXPECT_EQ(Message(with(EpsilonAtDelta::FromDelta(kNaN))),
            "query.epsilonAtDelta: got NaN, want in [0, 1]");
  EXPECT_EQ(Message(with(EpsilonAtDelta{1.0})),
            "query.epsilonAtLogDelta: got 1, want in [-inf, 0]");
  EXPECT_EQ(Message(with(DeltaAtEpsilon{kInf})),
            "query.deltaAtEpsilon: got Infinity, want in (-inf, inf)");
  EXPECT_EQ(Message(with(RenyiDivergenceAtOrder{1})),
            "query.renyiDivergenceAtOrder: got 1, want in (1, inf)");
  EXPECT_EQ(Message(with(TypeTwoErrorAt{-1})), "query.typeTwoErrorAt: got -1, want in [0, 1]");
  EXPECT_EQ(Message(with(GaussianDpMu{0})), "query.gaussianDpMu.alphaMin: got 0, want in (0, 0.5)");
  EXPECT_EQ(Message(with(Calibrate{-1, 0.1})), "query.calibrate.epsilon: got -1, want in [0, inf)");
  EXPECT_EQ(Message(with(Calibrate{1, kNaN})), "query.calibrate.delta: got NaN, want in [0, 1]");
  Question question = with(Advantage{});
  question.accountant = Numbered(77);
  EXPECT_THAT(Message(question), HasSubstr("accountant: got 77"));
  question = with(Advantage{});
  question.relation = static_cast<NeighboringRelation>(0);
  EXPECT_THAT(Message(question), HasSubstr("neighboringRelation: got 0"));
  question = with(Advantage{});
  question.relation = NeighboringRelation::kReplaceOne;
  question.adjacency = Adjacency::kAdd;
  EXPECT_THAT(Message(question), HasSubstr("adjacency: got ADD"));
  question = with(Advantage{});
  question.group_size = 0;
  EXPECT_THAT(Message(question), HasSubstr("groupSize: got 0"));
  question = with(Advantage{});
  question.relative_width = 1;
  EXPECT_EQ(Message(question), "relativeWidth: got 1, want in (0, 1)");
  question = with(Advantage{});
  question.advanced_delta_slack = 0;
  EXPECT_EQ(Message(question), "advancedDeltaSlack: got 0, want in (0, 1)");
  question = with(Advantage{});
  question.events.push_back({MechanismEvent(Gaussian{kNaN}), 1});
  EXPECT_EQ(Message(question),
            "events[1].event.gaussian.noiseMultiplier: got NaN, want in (0, inf)");
  EXPECT_EQ(Answer(question).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Answer, IsZeroForAnEmptyHistoryUnderEveryAccountant) {
  for (int i = 1; i <= 13; ++i) {
    const auto epsilon = Answer(Ask(Numbered(i), {}, EpsilonAtDelta::FromDelta(0)));
    ASSERT_TRUE(epsilon.ok());
    EXPECT_EQ(*epsilon->upper, 0);
    EXPECT_EQ(epsilon->accountant, Numbered(i));
    const auto delta = Answer(Ask(Numbered(i), {}, DeltaAtEpsilon{0}));
    EXPECT_EQ(*delta->upper, 0);
    EXPECT_EQ(*delta->log_upper, -kInf);
    EXPECT_EQ(*Answer(Ask(Numbered(i), {}, RenyiDivergenceAtOrder{2}))->upper, 0);
    EXPECT_EQ(*Answer(Ask(Numbered(i), {}, TypeTwoErrorAt{0.25}))->lower, 0.75);
  }
}

TEST(Answer, IsInfiniteForANonPrivateReleaseUnderEveryAccountant) {
  const MechanismEvent hidden =
      SelfComposed{MechanismEvent(PoissonSampled{0.1, MechanismEvent(NonPrivate{"printed"})}), 2};
  for (int i = 1; i <= 13; ++i) {
    EXPECT_EQ(*Answer(AskEpsilon(Numbered(i), hidden, 1, 0.1))->upper, kInf);
    const auto delta = Answer(Ask(Numbered(i), {{hidden, 1}}, DeltaAtEpsilon{100}));
    EXPECT_EQ(*delta->upper, 1);
    EXPECT_EQ(*delta->log_upper, 0);
    EXPECT_EQ(*Answer(Ask(Numbered(i), {{hidden, 1}}, TypeTwoErrorAt{0.5}))->lower, 0);
  }
}

TEST(Answer, RefusesWhatAnAccountantDoesNotKnowAndSaysWhy) {
  const auto curve = MechanismEvent(TradeOffCurve{{0, 1}, {1, 0}});
  EXPECT_THAT(Message(AskEpsilon(Accountant::kRenyi, curve, 1, 0.1)),
              HasSubstr("the RENYI accountant does not know tradeOffCurve yet: "));
  EXPECT_THAT(Message(AskEpsilon(Accountant::kBasic, Gaussian{1}, 1, 0.1)),
              HasSubstr("the BASIC accountant does not know gaussian yet: "));
  EXPECT_THAT(Message(AskEpsilon(Accountant::kPld, Gaussian{1}, 1, 0.1)),
              HasSubstr("the PLD accountant is not built yet"));
  EXPECT_THAT(Message(AskEpsilon(Accountant::kBest, curve, 1, 0.1)),
              HasSubstr("no accountant answers this"));
  for (const Accountant accountant : {Accountant::kOptimal, Accountant::kClt, Accountant::kTradeOff,
                                      Accountant::kMomentsHolder}) {
    EXPECT_TRUE(
        absl::IsUnimplemented(Answer(AskEpsilon(accountant, Gaussian{1}, 1, 0.1)).status()));
  }
}

TEST(Answer, SaysSoWhereAClaimIsInside) {
  const MechanismEvent claim = UnverifiedClaim{1, 1e-9, "a blog post"};
  const auto with = Answer(AskEpsilon(Accountant::kBasic, claim, 3, 1e-6));
  EXPECT_TRUE(with->contains_unverified_claim);
  EXPECT_NEAR(*with->upper, 3, 1e-13);
  EXPECT_FALSE(
      Answer(AskEpsilon(Accountant::kBasic, PureDp{1}, 3, 1e-6))->contains_unverified_claim);
}

TEST(Answer, OfBestIsTheSmallestAndNamesTheWinner) {
  const auto gaussian = Answer(AskEpsilon(Accountant::kBest, Gaussian{2}, 10, 1e-6));
  EXPECT_EQ(gaussian->accountant, Accountant::kGaussian);
  EXPECT_TRUE(gaussian->lower.has_value());
  const auto sampled =
      Answer(AskEpsilon(Accountant::kBest, SampledGaussianEvent(0.01, 1), 100, 1e-6));
  EXPECT_EQ(sampled->accountant, Accountant::kRenyi);
  EXPECT_FALSE(sampled->theorem.empty());
  const auto one = Answer(AskEpsilon(Accountant::kBest, PureDp{1}, 1, 0));
  EXPECT_EQ(one->accountant, Accountant::kBasic);
  EXPECT_EQ(*one->upper, 1);
  const auto mixed = Answer(
      Ask(Accountant::kBest,
          {{MechanismEvent(ApproximateDp{0.1, 1e-9}), 10}, {SampledGaussianEvent(0.01, 1), 100}},
          EpsilonAtDelta::FromDelta(1e-6)));
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  EXPECT_LT(*mixed->upper, 5);
  EXPECT_THAT(mixed->theorem, HasSubstr("[KOV15]"));
}

TEST(Answer, BracketsTheGaussianFromBothSides) {
  // The analytic value at mu = 1, delta = 1e-5 ([BW18]); mpmath 4.3776...
  const auto epsilon = Answer(AskEpsilon(Accountant::kGaussian, Gaussian{1}, 1, 1e-5));
  EXPECT_LE(*epsilon->lower, *epsilon->upper);
  EXPECT_NEAR(*epsilon->upper, *epsilon->lower, 1e-11);
  const auto delta = Answer(Ask(Accountant::kGaussian, {{MechanismEvent(Gaussian{1}), 1}},
                                DeltaAtEpsilon{*epsilon->upper}));
  EXPECT_NEAR(*delta->upper, 1e-5, 1e-15);
  EXPECT_NEAR(*delta->log_upper, std::log(1e-5), 1e-10);
  // Far below the smallest double.
  const auto deep =
      Answer(Ask(Accountant::kGaussian, {{MechanismEvent(Gaussian{1}), 1}}, DeltaAtEpsilon{100}));
  EXPECT_GT(*deep->upper, 0);
  EXPECT_LT(*deep->log_upper, -4900);
  EXPECT_GT(*deep->log_lower, -5000);
}

TEST(Answer, KnowsGroupsWhereATheoremIsStated) {
  Question question = AskEpsilon(Accountant::kGaussian, Gaussian{3}, 1, 1e-5);
  question.group_size = 3;
  EXPECT_NEAR(*Answer(question)->upper,
              *Answer(AskEpsilon(Accountant::kGaussian, Gaussian{1}, 1, 1e-5))->upper, 1e-11);
  question = AskEpsilon(Accountant::kBasic, PureDp{0.5}, 2, 0);
  question.group_size = 4;
  EXPECT_NEAR(*Answer(question)->upper, 4, 1e-13);
  question = AskEpsilon(Accountant::kZcdp, Zcdp{0.01, 0}, 1, 1e-5);
  question.group_size = 5;
  EXPECT_NEAR(*Answer(question)->upper,
              *Answer(AskEpsilon(Accountant::kZcdp, Zcdp{0.25, 0}, 1, 1e-5))->upper, 1e-9);
  question = AskEpsilon(Accountant::kRenyi, Gaussian{3}, 1, 1e-5);
  question.group_size = 2;
  EXPECT_TRUE(absl::IsUnimplemented(Answer(question).status()));
}

TEST(Answer, RespectsRelationAndDirection) {
  Question question = AskEpsilon(Accountant::kRenyi, SampledGaussianEvent(0.02, 0.8), 1000, 1e-6);
  const double both = *Answer(question)->upper;
  question.adjacency = Adjacency::kRemove;
  EXPECT_EQ(*Answer(question)->upper, both);
  question.adjacency = Adjacency::kAdd;
  EXPECT_LT(*Answer(question)->upper, both);
  question.adjacency.reset();
  question.relation = NeighboringRelation::kReplaceSpecial;
  EXPECT_EQ(*Answer(question)->upper, both);
  question.relation = NeighboringRelation::kReplaceOne;
  EXPECT_GT(*Answer(question)->upper, both);
}

TEST(Answer, SamplesSeveralGaussiansOnOneSampleAsOne) {
  // 1/z^2 = 1/4^2 + 1/4^2 (paper B of the trainers: two noisy releases on one mask).
  const MechanismEvent both = PoissonSampled{
      0.01, MechanismEvent(
                Composed{{{MechanismEvent(Gaussian{4}), 1}, {MechanismEvent(Gaussian{4}), 1}}})};
  const double joint = *Answer(AskEpsilon(Accountant::kRenyi, both, 2500, 1e-5))->upper;
  const double one = *Answer(AskEpsilon(Accountant::kRenyi,
                                        SampledGaussianEvent(0.01, 4 / std::sqrt(2.0)), 2500, 1e-5))
                          ->upper;
  EXPECT_NEAR(joint, one, 1e-9);
}

}  // namespace
}  // namespace epsledger::accounting
