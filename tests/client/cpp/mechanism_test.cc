#include "epsledger/mechanism.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <string>

namespace epsledger {
namespace {

using ::testing::HasSubstr;

TEST(Mechanism, JsonIsTheProto3Json) {
  EXPECT_EQ(Mechanism::Gaussian(1.5).ToJson(), R"({"gaussian":{"noiseMultiplier":1.5}})");
  EXPECT_EQ(Mechanism::PoissonSampled(0.25, Mechanism::Gaussian(1.5)).ToJson(),
            R"({"poissonSampled":{"samplingProbability":0.25,)"
            R"("event":{"gaussian":{"noiseMultiplier":1.5}}}})");
}

TEST(Mechanism, ApproximateDpHasItsTwoNumbers) {
  EXPECT_EQ(Mechanism::ApproximateDp(1.5, 0.25).ToJson(),
            R"({"approximateDp":{"epsilon":1.5,"delta":0.25}})");
}

TEST(Mechanism, ADominatingPairHasItsTwoLaws) {
  EXPECT_EQ(Mechanism::DominatingPair({.first = {0.75, 0.25}, .second = {0.25, 0.75}}).ToJson(),
            R"({"dominatingPair":{"firstProbabilities":[0.75,0.25],)"
            R"("secondProbabilities":[0.25,0.75]}})");
}

TEST(Mechanism, ComesBackFromItsJsonEqual) {
  const Mechanism gaussian = Mechanism::Gaussian(0.1 + 0.2);
  for (const Mechanism& mechanism :
       {gaussian, Mechanism::Laplace(2), Mechanism::PureDp(0), Mechanism::ApproximateDp(1, 1e-300),
        Mechanism::Zcdp(1e-300), Mechanism::GaussianDp(1e308),
        Mechanism::PoissonSampled(0.01, gaussian),
        Mechanism::DominatingPair({.first = {0.1, 0.9}, .second = {0.9, 0.1}}),
        Mechanism::Gaussian(std::numeric_limits<double>::infinity()),
        Mechanism::Composed({{gaussian, 3}, {Mechanism::PureDp(1), 1}})}) {
    const absl::StatusOr<Mechanism> parsed = Mechanism::FromJson(mechanism.ToJson());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, mechanism) << mechanism.ToJson();
  }
}

TEST(Mechanism, DifferentParametersAreUnequal) {
  EXPECT_FALSE(Mechanism::Gaussian(1) == Mechanism::Gaussian(std::nextafter(1.0, 2.0)));
  EXPECT_FALSE(Mechanism::Gaussian(1) == Mechanism::Laplace(1));
  EXPECT_FALSE(Mechanism::Gaussian(std::nan("")) == Mechanism::Gaussian(std::nan("")));
}

TEST(Mechanism, JsonThatIsNotOneKnownEventIsRefused) {
  for (const char* json :
       {"", "{", "[]", "7", "{}", "null", R"({"gauss": {"noiseMultiplier": 1}})",
        R"({"gaussian": {"sigma": 1}})", R"({"gaussian": {}, "laplace": {}})",
        R"({"gaussian": {"noiseMultiplier": "much"}})",
        R"({"gaussian": {"noiseMultiplier": 1, "noiseMultiplier": 9}})",
        R"({"gaussian": {"noise_multiplier": 1, "noiseMultiplier": 9}})",
        R"({gaussian: {noiseMultiplier: 1}})", R"({"gaussian": {"noiseMultiplier": 1}} x)"}) {
    EXPECT_EQ(Mechanism::FromJson(json).status().code(), absl::StatusCode::kInvalidArgument)
        << json;
  }
}

TEST(Mechanism, NoiseMultiplierIsThatOfTheGaussianOnly) {
  EXPECT_EQ(Mechanism::Gaussian(3).gaussian_noise_multiplier(), 3);
  EXPECT_EQ(Mechanism::PoissonSampled(0.5, Mechanism::Gaussian(3)).gaussian_noise_multiplier(), 3);
  EXPECT_EQ(Mechanism::Laplace(3).gaussian_noise_multiplier(), std::nullopt);
  EXPECT_EQ(Mechanism::PoissonSampled(0.5, Mechanism::Laplace(3)).gaussian_noise_multiplier(),
            std::nullopt);
}

TEST(Mechanism, CopiesAreIndependent) {
  Mechanism first = Mechanism::Gaussian(1);
  const Mechanism second = first;
  first = Mechanism::Gaussian(2);
  EXPECT_EQ(second, Mechanism::Gaussian(1));
}

}  // namespace
}  // namespace epsledger
