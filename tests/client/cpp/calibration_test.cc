// Calibration through the client library, against the real server.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>

#include "epsledger/client.h"
#include "tests/server/transport/test_server.h"

namespace epsledger {
namespace {

using ::testing::HasSubstr;

class CalibrationTest : public ::testing::Test {
 protected:
  CalibrationTest() : client_(*Client::Connect({.address = server_.server->addresses()[0]})) {}

  NoiseCalibration Sampled(double epsilon) {
    return {.events = {{Mechanism::PoissonSampled(0.01, Mechanism::Gaussian(1)), 1000}},
            .epsilon = epsilon,
            .delta = 1e-5,
            .relation = NeighboringRelation::kAddOrRemoveOne};
  }

  transport::TestServer server_;
  Client client_;
};

TEST_F(CalibrationTest, MeetsTheClosedFormOfTheGaussianMechanism) {
  // mu(epsilon, 1e-5) of the Gaussian mechanism; z = sqrt(steps) / mu.
  for (const auto& [epsilon, mu] : {std::pair{0.5, 0.1422105587},
                                    {1.0, 0.2680511232},
                                    {4.0, 0.9249308977},
                                    {8.0, 1.6660305978}}) {
    NoiseCalibration wanted{.events = {{Mechanism::Gaussian(1), 100}},
                            .epsilon = epsilon,
                            .delta = 1e-5,
                            .relation = NeighboringRelation::kAddOrRemoveOne};
    const absl::StatusOr<double> z = client_.CalibrateNoiseMultiplier(wanted);
    ASSERT_TRUE(z.ok()) << z.status();
    EXPECT_GE(*z, 10 / mu * (1 - 1e-9));
    EXPECT_LE(*z, 10 / mu * (1 + 1e-6));
    wanted.relation = NeighboringRelation::kReplaceOne;
    EXPECT_NEAR(*client_.CalibrateNoiseMultiplier(wanted), 2 * *z, 1e-5 * *z);
  }
}

TEST_F(CalibrationTest, SampledNoiseFallsWithEpsilonAndRenyiNeedsMore) {
  const double tight = *client_.CalibrateNoiseMultiplier(Sampled(2));
  EXPECT_GT(tight, *client_.CalibrateNoiseMultiplier(Sampled(4)));
  NoiseCalibration renyi = Sampled(2);
  renyi.accountant = "RENYI";
  EXPECT_GT(*client_.CalibrateNoiseMultiplier(renyi), tight);
}

TEST_F(CalibrationTest, ErrorsNameTheField) {
  const auto error = [&](const NoiseCalibration& wanted) {
    const absl::StatusOr<double> z = client_.CalibrateNoiseMultiplier(wanted);
    EXPECT_EQ(z.status().code(), absl::StatusCode::kInvalidArgument) << z.status();
    return std::string(z.status().message());
  };
  NoiseCalibration wanted = Sampled(1);
  wanted.accountant = "GUESS";
  EXPECT_THAT(error(wanted), HasSubstr("accountant: got \"GUESS\""));
  wanted = Sampled(-1);
  EXPECT_THAT(error(wanted), HasSubstr("epsilon"));
  wanted = Sampled(1);
  wanted.events.clear();
  error(wanted);
  wanted.events = {{Mechanism::PureDp(1), 1}};
  error(wanted);
}

}  // namespace
}  // namespace epsledger
