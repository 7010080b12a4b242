#include "accounting/pld/loss_measure.h"

#include "gtest/gtest.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "accounting/pld/lattice_placement.h"
#include "accounting/profile/profiles_of.h"
#include "accounting/renyi/sampled_gaussian.h"

namespace epsledger::accounting {
namespace {

// The profile of a measure, by its definition.
double DeltaOf(const LossMeasure& measure, double interval, double epsilon) {
  double sum = 0;
  for (size_t i = measure.masses.size(); i-- > 0;) {
    const double loss = static_cast<double>(measure.first + static_cast<int64_t>(i)) * interval;
    if (loss > epsilon) sum += measure.masses[i] * -std::expm1(epsilon - loss);
  }
  return sum + measure.infinity_mass;
}

struct Case {
  std::string name;
  MechanismEvent event;
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;
};

std::vector<Case> Cases() {
  return {
      {"gaussian", Gaussian{0.8}},
      {"sampled gaussian", PoissonSampled{0.01, MechanismEvent(Gaussian{1.0})}},
      {"sampled gaussian, small", PoissonSampled{1e-5, MechanismEvent(Gaussian{0.6})}},
      {"laplace", Laplace{0.7}},
      {"sampled laplace", PoissonSampled{0.1, MechanismEvent(Laplace{0.5})}},
      {"approximate", ApproximateDp{0.37, 1e-4}},
      {"pure", PureDp{1.1}},
      {"response", RandomizedResponse{0.3, 4}, NeighboringRelation::kReplaceOne},
      {"discrete laplace", DiscreteLaplace{0.4, 3}},
      {"discrete gaussian", DiscreteGaussian{2.0, 1}},
      {"curve", TradeOffCurve{{0, 0.2, 1}, {0.9, 0.5, 0}}},
      {"zcdp", Zcdp{0.1, 0}},
      {"truncated", TruncatedPoissonSampled{0.1, 12, 100, MechanismEvent(Gaussian{1.0})}},
      {"fixed size", SampledWithoutReplacement{100, 10, MechanismEvent(Laplace{1.0})},
       NeighboringRelation::kReplaceOne},
      {"with replacement", SampledWithReplacement{100, 10, MechanismEvent(Gaussian{1.0})}},
      {"mixture", MixtureOfGaussians{1, {0, 1, 2}, {0.5, 0.25, 0.25}},
       NeighboringRelation::kReplaceOne},
  };
}

TEST(DiscretizeTest, BracketsTheProfileAtEveryEpsilon) {
  for (const Case& c : Cases()) {
    Setting setting;
    setting.relation = c.relation;
    const auto profiles = ProfilesOf(c.event, setting, 1, Accountant::kPld);
    ASSERT_TRUE(profiles.ok()) << c.name << ": " << profiles.status();
    for (const auto& profile : {profiles->remove, profiles->add}) {
      const Bounds range = LossRange(*profile, -40);
      const double width = range.upper - range.lower;
      for (const double points : {20.0, 300.0, 3000.0}) {
        const double interval = AlignedInterval(width / points, {profile->AtomSpacing()}, {1});
        const MeasurePair pair = Discretize(*profile, CoveringLattice(*profile, range, interval));
        for (int i = -40; i <= 200; ++i) {
          // On the lattice, between its points, and beyond both ends.
          const double epsilon = range.lower + width * (i + 0.37) / 160;
          const Bounds log_delta = profile->LogDelta(epsilon);
          const double above = DeltaOf(pair.above, interval, epsilon);
          const double below = DeltaOf(pair.below, interval, epsilon);
          ASSERT_GE(above * (1 + 1e-12), std::exp(log_delta.lower)) << c.name << " " << epsilon;
          ASSERT_LE(below * (1 - 1e-12), std::exp(log_delta.upper)) << c.name << " " << epsilon;
        }
      }
    }
  }
}

TEST(DiscretizeTest, IsOffByTheSquareOfTheInterval) {
  const auto profiles = ProfilesOf(PoissonSampled{0.1, MechanismEvent(Gaussian{1.0})}, Setting{}, 1,
                                   Accountant::kPld);
  ASSERT_TRUE(profiles.ok());
  const PrivacyProfile& profile = *profiles->remove;
  const Bounds range = LossRange(profile, -60);
  double widths[2];
  int i = 0;
  for (const double interval : {0x1p-9, 0x1p-11}) {
    const MeasurePair pair = Discretize(profile, CoveringLattice(profile, range, interval));
    // The moment sums up the whole distribution.
    widths[i++] = LogMoment(pair.above, interval, 3) - LogMoment(pair.below, interval, 3);
  }
  EXPECT_GT(widths[1], 0);
  EXPECT_LT(widths[1], widths[0] / 12) << "a fourth of the interval, a sixteenth of the width";
}

TEST(DiscretizeTest, IsExactForLossesOnTheLattice) {
  const auto profiles = ProfilesOf(ApproximateDp{0.5, 1e-3}, Setting{}, 1, Accountant::kPld);
  ASSERT_TRUE(profiles.ok());
  const Bounds range = LossRange(*profiles->remove, -40);
  const double interval = AlignedInterval(0.5, {profiles->remove->AtomSpacing()}, {1});
  const MeasurePair pair =
      Discretize(*profiles->remove, CoveringLattice(*profiles->remove, range, interval));
  for (const double epsilon : {-0.3, 0.0, 0.2, 0.49}) {
    const double delta = std::exp(profiles->remove->LogDelta(epsilon).upper);
    EXPECT_NEAR(DeltaOf(pair.above, interval, epsilon), delta, 1e-6 * delta);
    EXPECT_NEAR(DeltaOf(pair.below, interval, epsilon), delta, 1e-6 * delta);
  }
}

// With little noise nearly all of the mass stands at log(1 - q), off the lattice, and the profile
// is flat past that kink. The measure from below must keep what lies far beyond.
TEST(Discretize, KeepsTheFarMassPastAKink) {
  for (const double noise : {0.05, 0.1, 0.2}) {
    const auto profiles = ProfilesOf(PoissonSampled{0.01, MechanismEvent(Gaussian{noise})},
                                     Setting{}, 1, Accountant::kPld);
    ASSERT_TRUE(profiles.ok()) << profiles.status();
    const double interval = 0x1p-9;
    const Bounds range = LossRange(*profiles->remove, -40);
    const MeasurePair pair =
        Discretize(*profiles->remove, CoveringLattice(*profiles->remove, range, interval));
    for (const double epsilon : {0.5, 3.0, 0.25 / (noise * noise), 0.6 / (noise * noise)}) {
      const Bounds log_delta = profiles->remove->LogDelta(epsilon);
      const double below = DeltaOf(pair.below, interval, epsilon);
      EXPECT_LE(below, std::exp(log_delta.upper)) << noise << " " << epsilon;
      EXPECT_GE(below, std::exp(log_delta.lower) * (1 - 1e-4)) << noise << " " << epsilon;
    }
  }
}

// E_P[e^{tL}] = e^{t D_{t+1}}: the cumulant of the loss is the Renyi curve.
// A profile of which nothing is known from below.
class OnlyAbove final : public PrivacyProfile {
 public:
  explicit OnlyAbove(std::shared_ptr<const PrivacyProfile> known) : known_(std::move(known)) {}
  Bounds LogDelta(double epsilon) const override {
    return {epsilon < 0 ? std::log(-std::expm1(epsilon)) - 1e-12 : -HUGE_VAL,
            known_->LogDelta(epsilon).upper};
  }
  Bounds TailUnderQ(double epsilon) const override {
    return {0, known_->TailUnderQ(epsilon).upper};
  }
  bool exact() const override { return false; }

 private:
  std::shared_ptr<const PrivacyProfile> known_;
};

TEST(Discretize, NeedsNoLowerBoundForTheMeasureAbove) {
  const auto profiles = ProfilesOf(PoissonSampled{0.1, MechanismEvent(Gaussian{1.0})}, Setting{}, 1,
                                   Accountant::kPld);
  ASSERT_TRUE(profiles.ok());
  const Lattice lattice{0x1p-6, -64, 512};
  const LossMeasure known = Discretize(*profiles->remove, lattice).above;
  const LossMeasure above = Discretize(OnlyAbove(profiles->remove), lattice).above;
  ASSERT_EQ(above.masses.size(), known.masses.size());
  for (size_t i = 0; i < known.masses.size(); ++i) {
    EXPECT_NEAR(above.masses[i], known.masses[i], 1e-12) << i;
  }
  EXPECT_NEAR(above.infinity_mass, known.infinity_mass, 1e-12);
}

TEST(LogMomentTest, OfALossIsItsRenyiDivergence) {
  const auto profiles =
      ProfilesOf(PoissonSampled{0.1, MechanismEvent(Gaussian{2})}, Setting{}, 1, Accountant::kPld);
  ASSERT_TRUE(profiles.ok()) << profiles.status();
  const Bounds range = LossRange(*profiles->remove, -300);
  const double interval = 2e-4;
  const MeasurePair pair =
      Discretize(*profiles->remove, CoveringLattice(*profiles->remove, range, interval));
  for (const double t : {0.5, 1.0, 4.0, 15.0}) {
    const double truth = t * SampledGaussianRemoveRenyi({0.1, 2}, t + 1);
    EXPECT_NEAR(LogMoment(pair.above, interval, t), truth, 1e-4 * truth) << t;
    EXPECT_NEAR(LogMoment(pair.below, interval, t), truth, 1e-4 * truth) << t;
  }
}

TEST(LogMomentTest, IsAnUpperBoundAndTight) {
  const LossMeasure measure{-2, {0.25, 0, 0.5, 0.125}, 0.125};
  for (const double order : {0.5, 3.0, 40.0, 5000.0}) {
    const double interval = 0.25;
    // By hand, scaled by the largest loss.
    const double top = order * interval;
    const double sum = 0.25 * std::exp(-2 * order * interval - top) + 0.5 * std::exp(-top) + 0.125;
    const double exact = std::log(sum) + top;
    EXPECT_GE(LogMoment(measure, interval, order), exact - 1e-15 * std::abs(exact)) << order;
    EXPECT_NEAR(LogMoment(measure, interval, order), exact, 1e-13 * std::abs(exact)) << order;
  }
}

}  // namespace
}  // namespace epsledger::accounting
