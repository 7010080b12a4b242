// What holds for every kind of event, under every relation and accountant that knows it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kDelta = 1e-5;
constexpr int64_t kCount = 3;
// Two-sided accountants answer to this width here; others to the tolerance of their search.
constexpr double kWidth = 1e-2;
constexpr double kSlack = 1e-6;

constexpr NeighboringRelation kRelations[] = {NeighboringRelation::kAddOrRemoveOne,
                                              NeighboringRelation::kReplaceOne,
                                              NeighboringRelation::kReplaceSpecial};
// Every accountant that proves something, but TRADE_OFF and BEST, which ask PLD.
constexpr Accountant kAccountants[] = {
    Accountant::kBasic, Accountant::kAdvanced, Accountant::kOptimal,
    Accountant::kRenyi, Accountant::kMoments,  Accountant::kMomentsHolder,
    Accountant::kZcdp,  Accountant::kGaussian, Accountant::kPld};

// An event, and events of the same kind that spend more: less noise, a larger promise, more records
// in a sample, more uses.
struct Row {
  MechanismEvent event;
  std::vector<MechanismEvent> more = {};
};

MechanismEvent SquareRoot(double noise, int64_t participations, int64_t separation) {
  MatrixMechanism event{.noise_multiplier = noise, .strategy = MatrixStrategy::kSquareRoot};
  event.steps = 20;
  event.max_participations = participations;
  event.min_separation = separation;
  event.bands = 20;
  return event;
}

std::vector<Row> Rows() {
  const MechanismEvent gaussian = Gaussian{2};
  const MechanismEvent louder = Gaussian{1.5};
  const MechanismEvent pure = PureDp{0.1};
  const MechanismEvent more_pure = PureDp{0.15};
  return {
      {Gaussian{2}, {Gaussian{1.5}}},
      {Laplace{3}, {Laplace{2}}},
      {DiscreteGaussian{4, 2}, {DiscreteGaussian{4, 3}, DiscreteGaussian{3, 2}}},
      {DiscreteLaplace{0.4, 1}, {DiscreteLaplace{0.6, 1}, DiscreteLaplace{0.4, 2}}},
      {RandomizedResponse{0.5, 3}, {RandomizedResponse{0.3, 3}}},
      {ExponentialMechanism{0.4}, {ExponentialMechanism{0.6}}},
      {PermuteAndFlip{0.4}, {PermuteAndFlip{0.6}}},
      {PureDp{0.3}, {PureDp{0.4}}},
      {ApproximateDp{0.3, 1e-9}, {ApproximateDp{0.4, 1e-9}, ApproximateDp{0.3, 1e-6}}},
      {Zcdp{0.05, 0.01}, {Zcdp{0.1, 0.01}, Zcdp{0.05, 0.1}}},
      {GaussianDp{0.5}, {GaussianDp{0.7}}},
      {RenyiCurve{{2, 8, 32}, {0.1, 0.4, 1.6}}, {RenyiCurve{{2, 8, 32}, {0.2, 0.8, 3.2}}}},
      {TradeOffCurve{{0, 0.1, 1}, {1, 0.8, 0}}, {TradeOffCurve{{0, 0.1, 1}, {1, 0.7, 0}}}},
      {MixtureOfGaussians{2, {0, 1}, {0.9, 0.1}},
       {MixtureOfGaussians{1.5, {0, 1}, {0.9, 0.1}}, MixtureOfGaussians{2, {0, 1}, {0.8, 0.2}}}},
      {PoissonSampled{0.1, gaussian}, {PoissonSampled{0.2, gaussian}, PoissonSampled{0.1, louder}}},
      {PoissonSampled{0.1, pure}, {PoissonSampled{0.2, pure}, PoissonSampled{0.1, more_pure}}},
      {TruncatedPoissonSampled{0.1, 20, 100, gaussian},
       {TruncatedPoissonSampled{0.1, 20, 100, louder}}},
      {SampledWithoutReplacement{100, 10, gaussian},
       {SampledWithoutReplacement{100, 20, gaussian}, SampledWithoutReplacement{100, 10, louder}}},
      {SampledWithoutReplacement{100, 10, pure},
       {SampledWithoutReplacement{100, 20, pure}, SampledWithoutReplacement{100, 10, more_pure}}},
      {SampledWithReplacement{100, 10, gaussian},
       {SampledWithReplacement{100, 10, louder}, SampledWithReplacement{100, 20, gaussian}}},
      {RandomAllocation{10, 1, gaussian},
       {RandomAllocation{10, 2, gaussian}, RandomAllocation{10, 1, louder}}},
      {Composed{{{gaussian, 2}, {pure, 1}}},
       {Composed{{{gaussian, 3}, {pure, 1}}}, Composed{{{gaussian, 2}, {more_pure, 1}}}}},
      {SelfComposed{pure, 3}, {SelfComposed{pure, 4}, SelfComposed{more_pure, 3}}},
      {TreeAggregation{4, 30}, {TreeAggregation{4, 40}, TreeAggregation{3, 30}}},
      {BandedMatrixFactorization{4, 2, 20, 0.1},
       {BandedMatrixFactorization{4, 2, 40, 0.1}, BandedMatrixFactorization{4, 2, 20, 0.2},
        BandedMatrixFactorization{3, 2, 20, 0.1}}},
      {SquareRoot(4, 3, 2), {SquareRoot(3, 3, 2), SquareRoot(4, 4, 2), SquareRoot(4, 3, 1)}},
      {RepeatAndSelect{pure, 5, 1},
       {RepeatAndSelect{more_pure, 5, 1}, RepeatAndSelect{pure, 5, 2}}},
      {RepeatAndSelect{gaussian, 5, 1},
       {RepeatAndSelect{louder, 5, 1}, RepeatAndSelect{gaussian, 20, 1}}},
      {RepeatAndSelect{gaussian, 5, kInf},
       {RepeatAndSelect{louder, 5, kInf}, RepeatAndSelect{gaussian, 20, kInf}}},
      {UnverifiedClaim{0.3, 1e-9, "x"}, {UnverifiedClaim{0.4, 1e-9, "x"}}},
      {NonPrivate{"x"}, {}},
      {DominatingPair{{0.5, 0.3, 0.2}, {0.4, 0.3, 0.3}},
       {DominatingPair{{0.6, 0.3, 0.1}, {0.4, 0.3, 0.3}}}},
      {DominatingPair{{0.5, 0.5 - 0x1p-31}, {0.4, 0.6}},
       {DominatingPair{{0.5, 0.5 - 0x1p-30}, {0.4, 0.6}}}},
      {ReportNoisyMax{Noise::kLaplace, 4}, {ReportNoisyMax{Noise::kLaplace, 3}}},
      {ReportNoisyMax{Noise::kExponential, 4, true},
       {ReportNoisyMax{Noise::kExponential, 4}, ReportNoisyMax{Noise::kExponential, 3, true}}},
      {ReportNoisyMax{Noise::kGumbel, 4}, {ReportNoisyMax{Noise::kGumbel, 3}}},
      {AboveThreshold{8, 16, 1, true},
       {AboveThreshold{8, 16, 1}, AboveThreshold{6, 16, 1, true}, AboveThreshold{8, 12, 1, true},
        AboveThreshold{8, 16, 2, true}}},
      {PartitionSelection{Noise::kLaplace, 3, 40},
       {PartitionSelection{Noise::kLaplace, 2, 40}, PartitionSelection{Noise::kLaplace, 3, 35}}},
      {PartitionSelection{Noise::kGaussian, 2, 20}, {PartitionSelection{Noise::kGaussian, 2, 12}}},
      {TruncatedGeometricSelection{0.3, 1e-8},
       {TruncatedGeometricSelection{0.4, 1e-8}, TruncatedGeometricSelection{0.3, 1e-7}}},
      {Shuffled{1000, MechanismEvent(RandomizedResponse{0.5, 3})},
       {Shuffled{500, MechanismEvent(RandomizedResponse{0.5, 3})},
        Shuffled{1000, MechanismEvent(RandomizedResponse{0.4, 3})}}}};
}

Question Asked(std::vector<CountedEvent> events, Accountant accountant,
               NeighboringRelation relation, const Query& query) {
  Question question = Ask(accountant, std::move(events), query);
  question.relation = relation;
  question.relative_width = kWidth;
  return question;
}

// Epsilon at kDelta; nullopt where the accountant does not know the event.
std::optional<Guarantee> EpsilonOf(std::vector<CountedEvent> events, Accountant accountant,
                                   NeighboringRelation relation) {
  const auto answer =
      Answer(Asked(std::move(events), accountant, relation, EpsilonAtDelta::FromDelta(kDelta)));
  if (!answer.ok()) {
    EXPECT_TRUE(absl::IsUnimplemented(answer.status())) << answer.status();
    return std::nullopt;
  }
  EXPECT_TRUE(answer->upper.has_value());
  EXPECT_GE(*answer->upper, answer->lower.value_or(0));
  return *answer;
}

std::string Place(const MechanismEvent& event, Accountant accountant,
                  NeighboringRelation relation) {
  return absl::StrCat(Describe(event), " under ", std::string(Name(relation)), " by ",
                      std::string(Name(accountant)));
}

double Lowered(const Guarantee& answer) {
  const double width = answer.lower.has_value() ? kWidth : kSlack;
  return *answer.upper * (1 - 2 * width) - kSlack;
}

template <class Check>
void OverAll(Check check) {
  for (const Row& row : Rows()) {
    for (const NeighboringRelation relation : kRelations) {
      for (const Accountant accountant : kAccountants) {
        SCOPED_TRACE(Place(row.event, accountant, relation));
        check(row, accountant, relation);
      }
    }
  }
}

TEST(EveryEvent, IsInTheTableAndKnownToSomebody) {
  std::set<size_t> kinds;
  for (const Row& row : Rows()) {
    kinds.insert(row.event.kind().index());
    bool known = false;
    for (const NeighboringRelation relation : kRelations) {
      for (const Accountant accountant : kAccountants) {
        known = known || EpsilonOf({{row.event, 1}}, accountant, relation).has_value();
      }
    }
    EXPECT_TRUE(known) << Describe(row.event);
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<MechanismEvent::Kind>);
}

TEST(EveryEvent, SpendsMoreWithEveryUse) {
  OverAll([](const Row& row, Accountant accountant, NeighboringRelation relation) {
    const auto few = EpsilonOf({{row.event, kCount}}, accountant, relation);
    if (!few.has_value()) return;
    const auto many = EpsilonOf({{row.event, 2 * kCount}}, accountant, relation);
    ASSERT_TRUE(many.has_value());
    EXPECT_GE(*many->upper, Lowered(*few));
  });
}

TEST(EveryEvent, SpendsMoreWithLessNoiseAndMoreSampling) {
  OverAll([](const Row& row, Accountant accountant, NeighboringRelation relation) {
    const auto base = EpsilonOf({{row.event, kCount}}, accountant, relation);
    if (!base.has_value()) return;
    for (const MechanismEvent& event : row.more) {
      const auto more = EpsilonOf({{event, kCount}}, accountant, relation);
      ASSERT_TRUE(more.has_value()) << Describe(event);
      EXPECT_GE(*more->upper, Lowered(*base)) << Describe(event);
    }
  });
}

TEST(EveryEvent, HasOneCostHoweverItsUsesAreWritten) {
  OverAll([](const Row& row, Accountant accountant, NeighboringRelation relation) {
    const auto counted = EpsilonOf({{row.event, kCount}}, accountant, relation);
    if (!counted.has_value()) return;
    std::vector<std::vector<CountedEvent>> ways = {
        {{MechanismEvent(SelfComposed{row.event, kCount}), 1}},
        {{MechanismEvent(Composed{{{row.event, kCount}}}), 1}},
        {{MechanismEvent(Composed{{{row.event, 1}}}), kCount}},
        {{row.event, 1}, {MechanismEvent(Composed{}), 5}, {row.event, kCount - 1}}};
    for (const std::vector<CountedEvent>& way : ways) {
      // Events are releases by position there.
      if (accountant == Accountant::kMomentsHolder && way.size() > 1) continue;
      const auto same = EpsilonOf(way, accountant, relation);
      ASSERT_TRUE(same.has_value()) << Describe(*way[0].event);
      if (std::isinf(*counted->upper)) {
        EXPECT_EQ(*same->upper, kInf);
        continue;
      }
      EXPECT_GE(*same->upper, Lowered(*counted)) << Describe(*way[0].event);
      EXPECT_GE(*counted->upper, Lowered(*same)) << Describe(*way[0].event);
    }
  });
}

TEST(EveryEvent, IsNeverCheaperThanTheLowerBoundOfItsPrivacyLoss) {
  int compared = 0;
  for (const Row& row : Rows()) {
    for (const NeighboringRelation relation : kRelations) {
      const auto losses = EpsilonOf({{row.event, kCount}}, Accountant::kPld, relation);
      if (!losses.has_value() || !losses->lower.has_value()) continue;
      for (const Accountant accountant : kAccountants) {
        const auto other = EpsilonOf({{row.event, kCount}}, accountant, relation);
        if (!other.has_value()) continue;
        ++compared;
        EXPECT_GE(*other->upper, *losses->lower) << Place(row.event, accountant, relation);
      }
      for (const Accountant accountant : {Accountant::kTradeOff, Accountant::kBest}) {
        const auto other = EpsilonOf({{row.event, kCount}}, accountant, relation);
        ASSERT_TRUE(other.has_value()) << Place(row.event, accountant, relation);
        EXPECT_GE(*other->upper, *losses->lower) << Place(row.event, accountant, relation);
        EXPECT_LE(other->lower.value_or(0), *losses->upper)
            << Place(row.event, accountant, relation);
      }
    }
  }
  EXPECT_GE(compared, 150);
}

TEST(EveryEvent, DivergesMoreAtALargerOrder) {
  for (const Row& row : Rows()) {
    for (const NeighboringRelation relation : kRelations) {
      for (const Accountant accountant :
           {Accountant::kRenyi, Accountant::kZcdp, Accountant::kGaussian, Accountant::kBest}) {
        double before = 0;
        for (const double order : {1.0, 1.001, 1.5, 2.0, 3.5, 16.0, 300.0, 1e6, kInf}) {
          const auto answer = Answer(
              Asked({{row.event, kCount}}, accountant, relation, RenyiDivergenceAtOrder{order}));
          if (absl::IsUnimplemented(answer.status())) break;
          ASSERT_TRUE(answer.ok()) << answer.status();
          EXPECT_GE(*answer->upper, before * (1 - 1e-6))
              << order << " " << Place(row.event, accountant, relation);
          before = *answer->upper;
        }
      }
    }
  }
}

TEST(EveryEvent, CostsAllBesideAReleaseWithoutPrivacy) {
  OverAll([](const Row& row, Accountant accountant, NeighboringRelation relation) {
    const auto answer =
        EpsilonOf({{row.event, 1}, {MechanismEvent(NonPrivate{"x"}), 1}}, accountant, relation);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(*answer->upper, kInf);
  });
}

TEST(EveryEvent, OfAnEqualMechanismCostsTheSame) {
  const MechanismEvent gaussian = Gaussian{2};
  const MechanismEvent sampled = PoissonSampled{0.2, gaussian};
  const NeighboringRelation add = NeighboringRelation::kAddOrRemoveOne;
  const NeighboringRelation replace = NeighboringRelation::kReplaceOne;
  struct Pair {
    MechanismEvent one;
    MechanismEvent other;
    NeighboringRelation relation;
    std::vector<Accountant> accountants;
  };
  const std::vector<Accountant> all(std::begin(kAccountants), std::end(kAccountants));
  const std::vector<Accountant> tight = {Accountant::kPld, Accountant::kBest};
  for (const Pair& pair : std::vector<Pair>{
           {gaussian, GaussianDp{0.5}, add, all},
           {gaussian, TreeAggregation{2, 1}, add, all},
           {gaussian, MixtureOfGaussians{2, {1}, {1}}, add, {Accountant::kPld}},
           {gaussian, PoissonSampled{1, gaussian}, add, all},
           {gaussian, PoissonSampled{1, gaussian}, replace, all},
           {gaussian, RandomAllocation{1, 1, gaussian}, add, {Accountant::kRenyi}},
           {gaussian, RepeatAndSelect{gaussian, 1, 0.5}, add, {Accountant::kRenyi}},
           {Composed{{{gaussian, 4}}}, Gaussian{1}, add, all},
           {sampled, MixtureOfGaussians{2, {0, 1}, {0.8, 0.2}}, add, {Accountant::kPld}},
           {SelfComposed{sampled, 10},
            BandedMatrixFactorization{2, 1, 10, 0.2},
            add,
            {Accountant::kRenyi, Accountant::kPld}},
           {PureDp{0.3}, ApproximateDp{0.3, 0}, replace, all},
           {ApproximateDp{0.3, 1e-7}, UnverifiedClaim{0.3, 1e-7, "x"}, add, all},
           {PureDp{0.3}, DiscreteLaplace{0.3, 1}, add, tight},
           {PureDp{0.3},
            SampledWithoutReplacement{7, 7, MechanismEvent(PureDp{0.3})},
            replace,
            {Accountant::kBasic}},
           {RandomizedResponse{0.5, 2}, DominatingPair{{0.75, 0.25}, {0.25, 0.75}}, replace, all},
           {Zcdp{0.125, 0}, gaussian, add, {Accountant::kZcdp}}}) {
    for (const Accountant accountant : pair.accountants) {
      const auto one = EpsilonOf({{pair.one, kCount}}, accountant, pair.relation);
      const auto other = EpsilonOf({{pair.other, kCount}}, accountant, pair.relation);
      ASSERT_EQ(one.has_value(), other.has_value()) << Place(pair.one, accountant, pair.relation);
      if (!one.has_value()) continue;
      EXPECT_GE(*other->upper, Lowered(*one)) << Place(pair.one, accountant, pair.relation);
      EXPECT_GE(*one->upper, Lowered(*other)) << Place(pair.one, accountant, pair.relation);
    }
  }
}

// A group of one is one record, and larger groups cost more.
TEST(EveryEvent, CostsALargerGroupMore) {
  OverAll([](const Row& row, Accountant accountant, NeighboringRelation relation) {
    Question question =
        Asked({{row.event, kCount}}, accountant, relation, EpsilonAtDelta::FromDelta(kDelta));
    const auto single = EpsilonOf({{row.event, kCount}}, accountant, relation);
    question.group_size = 1;
    const auto one = Answer(question);
    ASSERT_EQ(one.ok(), single.has_value());
    if (!one.ok()) return;
    EXPECT_EQ(*one->upper, *single->upper);
    question.group_size = 2;
    const auto two = Answer(question);
    if (absl::IsUnimplemented(two.status())) return;
    ASSERT_TRUE(two.ok()) << two.status();
    EXPECT_GE(*two->upper, Lowered(*one));
  });
}

}  // namespace
}  // namespace epsledger::accounting
