#include "client/trainers/run/open_run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::trainers {
namespace {

constexpr double kSamplingProbability = 0.01;

class OpenRunTest : public testing::Test {
 protected:
  // Calibrating takes a while with sanitizers.
  OpenRunTest()
      : client_(*Client::Connect({.address = server_.server->addresses()[0],
                                  .retry = {.call_timeout = std::chrono::minutes(2),
                                            .overall_timeout = std::chrono::minutes(5)}})) {
    flags_.session = "run";
    flags_.steps = 1000;
    flags_.relation = NeighboringRelation::kAddOrRemoveOne;
  }

  absl::StatusOr<OpenedRun> Open(const Cap& cap, double sampling_probability) {
    const absl::StatusOr<Budget> budget =
        client_.CreateBudget({.id = "b",
                              .cap = cap,
                              .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                              .privacy_unit = "person"});
    EXPECT_TRUE(budget.ok()) << budget.status();
    return OpenGaussianRun(flags_,
                           {.program = "test", .sampling_probability = sampling_probability},
                           *budget, client_);
  }

  // epsilon at 1e-5 of what the session was charged after so many steps.
  double EpsilonAfter(OpenedRun& run, int steps) {
    for (int step = 0; step < steps; ++step) {
      EXPECT_TRUE(run.session.Charge(run.mechanism).ok()) << step;
    }
    const absl::StatusOr<SessionGuarantees> guarantees = run.session.Guarantees(1e-5);
    for (const AccountantReading& reading : guarantees->readings) {
      if (reading.accountant == "BEST") return *reading.upper;
    }
    return -1;
  }

  transport::TestServer server_;
  Client client_;
  LedgerFlags flags_;
};

TEST_F(OpenRunTest, DeclaredSampledStepsFillTheirOwnEpsilonByTheTightestBound) {
  flags_.declared = true;
  flags_.epsilon = 1;
  flags_.delta = 1e-5;
  flags_.steps = 100;
  absl::StatusOr<OpenedRun> run =
      Open(ApproximateDpCap{.epsilon = 1, .delta = 1e-5, .filter = ApproximateDpFilter::kBasic},
           kSamplingProbability);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->mechanism, Mechanism::PoissonSampled(kSamplingProbability,
                                                      Mechanism::Gaussian(run->noise_multiplier)));
  const double epsilon = EpsilonAfter(*run, 100);
  EXPECT_LE(epsilon, 1);
  EXPECT_GE(epsilon, 0.998);
  const absl::StatusOr<Permit> beyond = run->session.Charge(run->mechanism);
  EXPECT_EQ(beyond.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(OpenRunTest, DeclaredStepsOverAllRecordsAreCalibratedToo) {
  flags_.declared = true;
  flags_.epsilon = 1;
  flags_.delta = 1e-5;
  flags_.steps = 100;
  absl::StatusOr<OpenedRun> run =
      Open(ApproximateDpCap{.epsilon = 1, .delta = 1e-5, .filter = ApproximateDpFilter::kBasic}, 1);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->mechanism, Mechanism::Gaussian(run->noise_multiplier));
  // sqrt(steps) / mu with the exact mu(1, 1e-5) of the Gaussian mechanism.
  EXPECT_GE(run->noise_multiplier, 10 / 0.2680511232 * (1 - 1e-9));
  EXPECT_LE(run->noise_multiplier, 10 / 0.2680511232 * (1 + 1e-6));
}

TEST_F(OpenRunTest, AdaptiveSampledStepsFillTheCapAsItsFilterCounts) {
  absl::StatusOr<OpenedRun> run =
      Open(ApproximateDpCap{.epsilon = 1, .delta = 1e-5}, kSamplingProbability);
  ASSERT_TRUE(run.ok()) << run.status();
  const absl::StatusOr<ChargePreview> preview = run->session.Preview(run->mechanism);
  ASSERT_TRUE(preview.ok()) << preview.status();
  EXPECT_GE(preview->steps_that_fit, 1000);
  EXPECT_LE(preview->steps_that_fit, 1300);
}

TEST_F(OpenRunTest, ChosenNoiseIsTaken) {
  flags_.noise_multiplier = 7;
  absl::StatusOr<OpenedRun> run = Open(ZcdpCap{.rho = 1}, kSamplingProbability);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->noise_multiplier, 7);
}

TEST_F(OpenRunTest, SampledStepsWithoutAnEpsilonAreLeftToTheUser) {
  const absl::StatusOr<OpenedRun> run = Open(ZcdpCap{.rho = 1}, kSamplingProbability);
  EXPECT_EQ(run.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(run.status().message()), testing::HasSubstr("--noise-multiplier"));
}

TEST_F(OpenRunTest, PlanThatDoesNotFitIsRefused) {
  flags_.declared = true;
  flags_.epsilon = 2;
  flags_.delta = 1e-5;
  const absl::StatusOr<OpenedRun> run =
      Open(ApproximateDpCap{.epsilon = 1, .delta = 1e-5, .filter = ApproximateDpFilter::kBasic},
           kSamplingProbability);
  EXPECT_EQ(run.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(RefusalOf(run.status()).has_value());
}

}  // namespace
}  // namespace epsledger::trainers
