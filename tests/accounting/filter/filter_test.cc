#include "accounting/filter/filter.h"

#include <cmath>

#include "accounting/answer.h"
#include "accounting/gaussian/profile.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

constexpr NeighboringRelation kAddRemove = NeighboringRelation::kAddOrRemoveOne;
constexpr ApproximateDpFilter kAllKinds[] = {
    ApproximateDpFilter::kRenyiOrders, ApproximateDpFilter::kRenyiOneOrder,
    ApproximateDpFilter::kBasic, ApproximateDpFilter::kAdvanced, ApproximateDpFilter::kZcdp};

double CostIn(CellQuantity quantity, const MechanismEvent& event, double order = 0) {
  return CostUpperBound(event, kAddRemove, FilterCell{quantity, order, 1});
}

// The ledger's loop over doubles: charges `event` while the filter lets it pass.
class Ledger {
 public:
  explicit Ledger(Filter filter) : filter_(std::move(filter)), spent_(filter_.cells.size(), 0) {}

  bool Charge(const MechanismEvent& event) {
    bool all = true;
    bool any = false;
    std::vector<double> costs;
    for (size_t i = 0; i < spent_.size(); ++i) {
      costs.push_back(CostUpperBound(event, kAddRemove, filter_.cells[i]));
      const bool fits = spent_[i] + costs[i] <= filter_.cells[i].cap;
      all = all && fits;
      any = any || fits;
    }
    if (!(filter_.rule == FilterRule::kAnyCell ? any : all)) return false;
    for (size_t i = 0; i < spent_.size(); ++i) spent_[i] += costs[i];
    return true;
  }

 private:
  Filter filter_;
  std::vector<double> spent_;
};

TEST(Filter, NamesWhatIsWrongWithItsNumbers) {
  EXPECT_EQ(PureDpFilter(-1, "budget.cap").status().message(),
            "budget.cap.epsilon: got -1, want in (0, inf)");
  EXPECT_EQ(MakeApproximateDpFilter(1, 1, ApproximateDpFilter::kBasic, 0, "cap").status().message(),
            "cap.delta: got 1, want in (0, 1)");
  EXPECT_EQ(RenyiFilter(1, 1, "cap").status().message(), "cap.order: got 1, want in (1, inf)");
  for (const double x : {0.0, -1.0, kInfinity, std::nan("")}) {
    EXPECT_FALSE(PureDpFilter(x, "").ok());
    EXPECT_FALSE(ZcdpFilter(x, "").ok());
    EXPECT_FALSE(GaussianDpFilter(x, "").ok());
    EXPECT_FALSE(RenyiFilter(2, x, "").ok());
    for (const auto kind : kAllKinds) {
      EXPECT_FALSE(MakeApproximateDpFilter(x, 1e-5, kind, 2, "").ok());
      EXPECT_FALSE(MakeApproximateDpFilter(1, x, kind, 2, "").ok());
    }
  }
}

TEST(Filter, LeavesRoomOrSaysThatItLeavesNone) {
  EXPECT_TRUE(absl::IsFailedPrecondition(
      MakeApproximateDpFilter(0.1, 1e-9, ApproximateDpFilter::kRenyiOneOrder, 2, "").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      MakeApproximateDpFilter(1e-6, 1e-9, ApproximateDpFilter::kRenyiOrders, 0, "").status()));
  for (const double epsilon : {0.1, 1.0, 3.0, 20.0}) {
    for (const double delta : {1e-3, 1e-5, 1e-12}) {
      for (const auto kind : kAllKinds) {
        const auto filter = MakeApproximateDpFilter(epsilon, delta, kind, 400, "");
        ASSERT_TRUE(filter.ok()) << epsilon << " " << delta << " " << static_cast<int>(kind);
        for (const FilterCell& cell : filter->cells) EXPECT_GT(cell.cap, 0);
        EXPECT_FALSE(filter->theorem.empty());
      }
    }
  }
}

TEST(Filter, OfPureEpsilonRefusesADelta) {
  Ledger ledger(*PureDpFilter(10, ""));
  EXPECT_TRUE(ledger.Charge(PureDp{1}));
  EXPECT_FALSE(ledger.Charge(ApproximateDp{1, 1e-300}));
  EXPECT_FALSE(ledger.Charge(Gaussian{100}));
}

TEST(Filter, CapsAreTheTheoremRoundedDown) {
  const auto advanced = MakeApproximateDpFilter(2, 1e-6, ApproximateDpFilter::kAdvanced, 0, "");
  const double v = advanced->cells[0].cap;
  EXPECT_LE(std::sqrt(2 * std::log(2e6) * v) + v / 2, 2);
  EXPECT_NEAR(std::sqrt(2 * std::log(2e6) * v) + v / 2, 2, 1e-12);
  EXPECT_LE(advanced->cells[1].cap, 5e-7);
  EXPECT_LE(GaussianDpFilter(1.1, "")->cells[0].cap, 1.1 * 1.1);
}

TEST(CostUpperBound, IsInfiniteForWhatIsNotProved) {
  for (const MechanismEvent& event :
       {MechanismEvent(TradeOffCurve{{0, 1}, {1, 0}}),
        MechanismEvent(SampledWithReplacement{100, 10, MechanismEvent(Laplace{1})}),
        MechanismEvent(RandomizedResponse{0.5, 2}), MechanismEvent(NonPrivate{}),
        MechanismEvent(SelfComposed{MechanismEvent(NonPrivate{}), 2}),
        MechanismEvent(SampledWithReplacement{100, 10, MechanismEvent(Gaussian{1})}),
        MechanismEvent(ApproximateDp{1, 1e-9})}) {
    EXPECT_EQ(CostIn(CellQuantity::kRenyi, event, 2), kInfinity) << Describe(event);
    EXPECT_EQ(CostIn(CellQuantity::kMuSquared, event), kInfinity) << Describe(event);
    if (event.As<PoissonSampled>() == nullptr) {
      EXPECT_EQ(CostIn(CellQuantity::kRho, event), kInfinity) << Describe(event);
    }
  }
  EXPECT_EQ(CostIn(CellQuantity::kEpsilon, Gaussian{1}), kInfinity);
  EXPECT_EQ(CostIn(CellQuantity::kEpsilonSquared, Gaussian{1}), kInfinity);
  EXPECT_EQ(CostIn(CellQuantity::kDelta, Gaussian{1}), kInfinity);
  EXPECT_EQ(CostIn(CellQuantity::kMuSquared, SampledGaussianEvent(0.5, 1)), kInfinity);
  EXPECT_EQ(CostIn(CellQuantity::kMuSquared, GaussianDp{1}), kInfinity);
  EXPECT_EQ(CostIn(CellQuantity::kRho, Zcdp{1, 0.1}), kInfinity);
  EXPECT_EQ(CostIn(CellQuantity::kRenyi, Gaussian{1}, 0), kInfinity);
}

TEST(CostUpperBound, IsJustAboveTheClosedForms) {
  const auto just_above = [](double cost, double truth) {
    EXPECT_GE(cost, truth);
    EXPECT_NEAR(cost, truth, 1e-13 * truth);
  };
  just_above(CostIn(CellQuantity::kEpsilon, PureDp{0.3}), 0.3);
  just_above(CostIn(CellQuantity::kEpsilon, Laplace{4}), 0.25);
  just_above(CostIn(CellQuantity::kEpsilonSquared, PureDp{0.5}), 0.25);
  just_above(CostIn(CellQuantity::kMuSquared, Gaussian{2}), 0.25);
  just_above(CostIn(CellQuantity::kRho, Gaussian{2}), 0.125);
  just_above(CostIn(CellQuantity::kRenyi, Gaussian{2}, 8), 1);
  just_above(CostIn(CellQuantity::kRenyi, SelfComposed{MechanismEvent(Gaussian{2}), 10}, 8), 10);
  EXPECT_EQ(CostIn(CellQuantity::kEpsilon, PureDp{0}), 0);
  EXPECT_EQ(CostIn(CellQuantity::kDelta, PureDp{1}), 0);
  EXPECT_EQ(CostIn(CellQuantity::kDelta, ApproximateDp{1, 1e-9}), 1e-9);
  // Replace-one moves the mean by two contributions.
  EXPECT_NEAR(CostUpperBound(Gaussian{2}, NeighboringRelation::kReplaceOne,
                             FilterCell{CellQuantity::kRenyi, 8, 1}),
              4, 1e-12);
  // A subnormal mu is not free.
  EXPECT_GT(CostIn(CellQuantity::kMuSquared, Gaussian{1e200}), 0);
}

RC_GTEST_PROP(CostUpperBound, IsNeverNaNNorNegativeAndSplitsNoCheaper, ()) {
  const double q = std::exp(-*rc::gen::inRange(0, 14000) / 1000.0);
  const double z = std::exp(*rc::gen::inRange(-1500, 5000) / 1000.0);
  const auto count = *rc::gen::inRange<int64_t>(1, 100000);
  const double order = 1 + std::exp(*rc::gen::inRange(-3000, 6000) / 1000.0);
  const MechanismEvent event = SampledGaussianEvent(q, z);
  for (const CellQuantity quantity :
       {CellQuantity::kEpsilon, CellQuantity::kDelta, CellQuantity::kEpsilonSquared,
        CellQuantity::kRho, CellQuantity::kMuSquared, CellQuantity::kRenyi}) {
    const double one = CostIn(quantity, event, order);
    const double many = CostIn(quantity, SelfComposed{event, count}, order);
    RC_ASSERT(one >= 0);
    RC_ASSERT(many >= one * static_cast<double>(count) * (1 - 1e-13));
    if (one < kInfinity) RC_ASSERT(many <= one * static_cast<double>(count) * (1 + 1e-13));
  }
}

// What a filter lets pass, composed exactly as mu-GDP, satisfies its promise: the true epsilon of
// Gaussian releases at the promised delta is at most the promised epsilon.
RC_GTEST_PROP(Filter, HoldsItsPromiseForGaussianHistories, ()) {
  const double epsilon = std::exp(*rc::gen::inRange(-1500, 3000) / 1000.0);
  const double delta = std::pow(10.0, -*rc::gen::inRange(2, 13));
  for (const auto kind : {ApproximateDpFilter::kRenyiOrders, ApproximateDpFilter::kRenyiOneOrder,
                          ApproximateDpFilter::kZcdp}) {
    const auto filter =
        MakeApproximateDpFilter(epsilon, delta, kind, 1 - 2 * std::log(delta) / epsilon, "");
    if (!filter.ok()) continue;
    Ledger ledger(*filter);
    double mu_squared = 0;
    for (int i = 0; i < 60; ++i) {
      const double z = std::exp(*rc::gen::inRange(-500, 3500) / 1000.0);
      if (ledger.Charge(Gaussian{z})) mu_squared += 1 / (z * z);
    }
    const double mu = std::sqrt(mu_squared);
    RC_ASSERT(GaussianEpsilon({mu, mu}, std::log(delta)).lower <= epsilon * (1 + 1e-12));
  }
}

// Sampled histories: at the promised delta the Renyi accountant of the order that let the last
// charge pass is at most the promise, so the best order over all is.
RC_GTEST_PROP(Filter, HoldsItsPromiseForSampledHistories, ()) {
  const double epsilon = std::exp(*rc::gen::inRange(-500, 2500) / 1000.0);
  const double delta = std::pow(10.0, -*rc::gen::inRange(3, 11));
  const auto filter =
      MakeApproximateDpFilter(epsilon, delta, ApproximateDpFilter::kRenyiOrders, 0, "");
  if (!filter.ok()) return;
  Ledger ledger(*filter);
  Question question = Ask(Accountant::kRenyi, {}, EpsilonAtDelta::FromDelta(delta));
  for (int i = 0; i < 10; ++i) {
    const double q = std::exp(-*rc::gen::inRange(1000, 9000) / 1000.0);
    const double z = std::exp(*rc::gen::inRange(-500, 1500) / 1000.0);
    const auto count = *rc::gen::inRange<int64_t>(1, 3000);
    const MechanismEvent event = SampledGaussianEvent(q, z);
    if (ledger.Charge(SelfComposed{event, count})) question.events.push_back({event, count});
  }
  if (question.events.empty()) return;
  RC_ASSERT(*Answer(question)->upper <= epsilon);
}

// A budget that promises nothing counts nothing, and nothing else becomes cheaper by it.
TEST(NoGuaranteeFilter, LetsEverythingPassAndChangesNoOtherCell) {
  const Filter filter = NoGuaranteeFilter();
  EXPECT_EQ(filter.rule, FilterRule::kAllCells);
  ASSERT_EQ(filter.cells.size(), 1u);
  const std::vector<FilterCell> cells = {
      filter.cells[0], {CellQuantity::kEpsilon}, {CellQuantity::kRho}, {CellQuantity::kRenyi, 2}};
  for (const MechanismEvent& event : {MechanismEvent(NonPrivate{"x"}),
                                      MechanismEvent(SelfComposed{MechanismEvent(NonPrivate{}), 2}),
                                      MechanismEvent(Gaussian{0.01})}) {
    const auto costs =
        *CostUpperBounds(event, NeighboringRelation::kAddOrRemoveOne, cells, [] { return false; });
    EXPECT_EQ(costs[0], 0);
    for (size_t i = 1; i < cells.size(); ++i) {
      EXPECT_EQ(costs[i], CostUpperBound(event, NeighboringRelation::kAddOrRemoveOne, cells[i]));
      EXPECT_GT(costs[i], 1000);
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
