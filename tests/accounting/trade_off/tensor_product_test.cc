#include "accounting/trade_off/tensor_product.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/trade_off/transformation.h"
#include "gtest/gtest.h"
#include "tests/accounting/trade_off/brackets.h"
#include "tests/accounting/trade_off/fdp_rows.h"

namespace epsledger::accounting {
namespace {

constexpr double kAlphas[] = {1e-6, 0.001, 0.05, 0.3, 0.7, 0.99};

TradeOffFunction Pure(double epsilon) { return *TradeOffFunction::ApproximateDp(epsilon, 0); }

TEST(TensorProduct, PowersOfApproximateDpAgreeWithTheTable) {
  for (const auto& row : kTensorPowerRows) {
    const auto f = TensorProduct({{*TradeOffFunction::ApproximateDp(row.epsilon, row.delta),
                                   static_cast<int64_t>(row.count)}});
    ASSERT_TRUE(f.ok()) << f.status();
    ExpectBrackets(f->At(row.alpha), row.value, 1e-9,
                   absl::StrCat(row.epsilon, " ", row.delta, " ", row.count, " ", row.alpha));
  }
}

TEST(TensorProduct, DifferentPureFactorsAgreeWithTheTable) {
  std::vector<CountedTradeOff> factors;
  for (const double epsilon : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}) factors.push_back({Pure(epsilon), 1});
  const auto f = TensorProduct(factors);
  ASSERT_TRUE(f.ok()) << f.status();
  for (const auto& row : kHeterogeneousRows) {
    ExpectBrackets(f->At(row.alpha), row.value, 1e-10, absl::StrCat(row.alpha));
  }
}

TEST(TensorProduct, GaussiansAgreeWithTheTable) {
  const auto f = TensorProduct({{*TradeOffFunction::Gaussian(0.3), 1},
                                {*TradeOffFunction::Gaussian(0.4), 1},
                                {*TradeOffFunction::Gaussian(1.2), 1}});
  ASSERT_TRUE(f.ok());
  for (const auto& row : kGaussianTensorRows) {
    EXPECT_NEAR(f->At(row.alpha).lower, row.value, 1e-13) << row.alpha;
    EXPECT_NEAR(f->At(row.alpha).upper, row.value, 1e-13) << row.alpha;
  }
}

TEST(TensorProduct, AGaussianWithPureFactorsAgreesWithTheTable) {
  const auto f = TensorProduct({{*TradeOffFunction::Gaussian(0.5), 1}, {Pure(0.3), 4}});
  ASSERT_TRUE(f.ok());
  for (const auto& row : kGaussianWithPureRows) {
    // The table's own error is about 1e-13.
    EXPECT_LE(f->At(row.alpha).lower, row.value + 1e-12) << row.alpha;
    EXPECT_GE(f->At(row.alpha).upper, row.value - 1e-12) << row.alpha;
    EXPECT_NEAR(f->At(row.alpha).lower, row.value, 1e-9) << row.alpha;
  }
}

TEST(TensorProduct, IsCommutativeAndTheIdentityIsNeutral) {
  const auto f = *TradeOffFunction::FromPoints({0, 0.1, 1}, {0.97, 0.4, 0}, "f");
  const auto g = *TradeOffFunction::FromPoints({0, 0.3, 0.5, 1}, {1, 0.4, 0.2, 0}, "g");
  const auto fg = *TensorProduct(f, g);
  const auto gf = *TensorProduct(g, f);
  for (const double alpha : kAlphas) {
    EXPECT_NEAR(fg.At(alpha).lower, gf.At(alpha).lower, 1e-11);
    EXPECT_EQ(TensorProduct(f, TradeOffFunction::Identity())->At(alpha).lower, f.At(alpha).lower);
    EXPECT_EQ(TensorProduct(TradeOffFunction::Identity(), f)->At(alpha).lower, f.At(alpha).lower);
    // Id as a tabulated curve, so that it is enumerated.
    const auto id = *TradeOffFunction::FromPoints({0, 1}, {1, 0}, "id");
    EXPECT_NEAR(TensorProduct(f, id)->At(alpha).lower, f.At(alpha).lower, 1e-11);
  }
}

TEST(TensorProduct, TheInverseOfAProductIsTheProductOfInverses) {
  const auto f = *TradeOffFunction::FromPoints({0, 0.1, 1}, {0.97, 0.4, 0}, "f");
  const auto g = *TradeOffFunction::FromPoints({0, 0.3, 0.5, 1}, {1, 0.4, 0.2, 0}, "g");
  const auto whole = Inverse(*TensorProduct(f, g));
  const auto parts = *TensorProduct(Inverse(f), Inverse(g));
  const auto gaussian = *TensorProduct(f, *TradeOffFunction::Gaussian(1));
  const auto gaussian_parts = *TensorProduct(Inverse(f), *TradeOffFunction::Gaussian(1));
  for (const double alpha : kAlphas) {
    EXPECT_NEAR(whole.At(alpha).lower, parts.At(alpha).lower, 1e-11) << alpha;
    EXPECT_NEAR(gaussian.InverseAt(alpha).lower, gaussian_parts.At(alpha).lower, 1e-8) << alpha;
  }
}

TEST(TensorProduct, IsMonotoneInItsFactors) {
  // f_{.2,0} >= f_{.5,0}.
  const auto f = *TradeOffFunction::FromPoints({0, 0.1, 1}, {0.97, 0.4, 0}, "f");
  for (const double alpha : kAlphas) {
    EXPECT_GE(TensorProduct(f, Pure(0.2))->At(alpha).upper,
              TensorProduct(f, Pure(0.5))->At(alpha).lower);
    EXPECT_GE(f.At(alpha).upper, TensorProduct(f, Pure(0.2))->At(alpha).lower);
  }
}

TEST(TensorProduct, SplitsApproximateDpIntoItsPureAndItsLeakingPart) {
  const auto whole = *TradeOffFunction::ApproximateDp(0.7, 0.05);
  const auto leak = *TradeOffFunction::ApproximateDp(0, 0.05);
  const auto parts = *TensorProduct(Pure(0.7), leak);
  const auto revealing = *RevealWithProbability(Pure(0.7), 0.05);
  for (const double alpha : kAlphas) {
    EXPECT_NEAR(parts.At(alpha).lower, whole.At(alpha).lower, 1e-11) << alpha;
    EXPECT_NEAR(revealing.At(alpha).lower, whole.At(alpha).lower, 1e-13) << alpha;
  }
}

TEST(TensorProduct, LeaksComposeAsOneMinusTheProduct) {
  const std::vector<double> deltas = {0.1, 0.25, 0.02, 1e-9};
  std::vector<CountedTradeOff> factors;
  double rest = 1;
  for (const double delta : deltas) {
    factors.push_back({*TradeOffFunction::ApproximateDp(0, delta), 1});
    rest *= 1 - delta;
  }
  EXPECT_NEAR(TensorProduct(factors)->At(0.2).lower, rest - 0.2, 1e-11);
}

TEST(TensorProduct, RefusesWhatNeedsAGrid) {
  const auto laplace = *TradeOffFunction::Laplace(1);
  EXPECT_EQ(TensorProduct(laplace, laplace).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(TensorProduct({{laplace, 2}}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(TensorProduct(laplace, *TradeOffFunction::Gaussian(1)).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(TensorProduct({{Pure(0.1), 1'000'000}}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(TensorProduct({{Pure(0.1), 0}}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(TensorProduct(laplace, Pure(1)).ok());
  EXPECT_EQ(TensorProduct(std::vector<CountedTradeOff>{})->At(0.25).lower, 0.75);
}

}  // namespace
}  // namespace epsledger::accounting
