#include "client/trainers/run/proven_claim.h"

#include "gtest/gtest.h"

#include <cmath>

namespace epsledger::trainers {
namespace {

Claim ClaimOf(const Cap& cap, const LedgerFlags& flags = {}) {
  Budget budget;
  budget.cap = cap;
  const std::optional<Claim> claim = ProvenClaim(flags, budget, "a theorem");
  EXPECT_TRUE(claim.has_value());
  if (!claim.has_value()) return {};
  EXPECT_EQ(claim->status, Claim::Status::kProven);
  EXPECT_EQ(claim->source, "a theorem");
  return *claim;
}

// delta(epsilon) of N(0, 1) against N(mu, 1) [BBG18, Theorem 8].
double GaussianDelta(double mu, double epsilon) {
  const auto phi = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  return phi(mu / 2 - epsilon / mu) - std::exp(epsilon) * phi(-mu / 2 - epsilon / mu);
}

TEST(ProvenClaim, IsWhatACapInEpsilonSays) {
  EXPECT_EQ(ClaimOf(PureEpsilonCap{.epsilon = 0.5}).epsilon, 0.5);
  EXPECT_EQ(ClaimOf(PureEpsilonCap{.epsilon = 0.5}).delta, 0);
  EXPECT_EQ(ClaimOf(ApproximateDpCap{.epsilon = 2, .delta = 1e-6}).epsilon, 2);
  EXPECT_EQ(ClaimOf(ApproximateDpCap{.epsilon = 2, .delta = 1e-6}).delta, 1e-6);
  EXPECT_EQ(ClaimOf(TradeOffCurveCap{.points = {{0.5, 1e-3}, {1, 1e-6}}}).epsilon, 0.5);
}

TEST(ProvenClaim, OfTheRunsOwnCapComesFirst) {
  LedgerFlags flags;
  flags.epsilon = 1;
  flags.delta = 1e-7;
  const Claim claim = ClaimOf(GaussianDpCap{.mu = 3}, flags);
  EXPECT_EQ(claim.epsilon, 1);
  EXPECT_EQ(claim.delta, 1e-7);
}

// Not below the truth, and not far above it.
TEST(ProvenClaim, OfAnotherQuantityIsNoSmallerThanAnyRunUnderTheCap) {
  for (const double mu : {0.01, 0.2680511232, 1.0, 4.0}) {
    for (const Cap& cap : {Cap(GaussianDpCap{.mu = mu}), Cap(ZcdpCap{.rho = mu * mu / 2})}) {
      const Claim claim = ClaimOf(cap);
      EXPECT_EQ(claim.delta, 1e-5);
      EXPECT_LE(GaussianDelta(mu, claim.epsilon), 1e-5) << mu;
      EXPECT_GT(GaussianDelta(mu, claim.epsilon / 2), 1e-5) << mu;
    }
    // The same pair at one order.
    const Claim claim = ClaimOf(RenyiCap{.order = 8, .divergence = 8 * mu * mu / 2});
    EXPECT_LE(GaussianDelta(mu, claim.epsilon), 1e-5) << mu;
  }
  EXPECT_NEAR(ClaimOf(RenyiCap{.order = 2, .divergence = 0.25}).epsilon, 0.25 + std::log(1e5),
              1e-9);
}

TEST(ProvenClaim, OfABudgetThatPromisesNothingIsNone) {
  Budget budget;
  budget.cap = NoGuaranteeCap{};
  EXPECT_FALSE(ProvenClaim({}, budget, "").has_value());
}

}  // namespace
}  // namespace epsledger::trainers
