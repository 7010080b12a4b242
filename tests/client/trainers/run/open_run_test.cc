#include "client/trainers/run/open_run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/trainers/run/session_report.h"
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

  absl::StatusOr<OpenedRun> Open(const Cap& cap, double sampling_probability,
                                 std::vector<CountedMechanism> besides_steps = {}) {
    const absl::StatusOr<Budget> budget =
        client_.CreateBudget({.id = "b",
                              .cap = cap,
                              .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                              .privacy_unit = "person"});
    EXPECT_TRUE(budget.ok()) << budget.status();
    return OpenGaussianRun(flags_,
                           {.program = "test",
                            .sampling_probability = sampling_probability,
                            .besides_steps = std::move(besides_steps)},
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

// A run's other charges are in its plan, and the steps have the noise that is left for them.
TEST_F(OpenRunTest, WhatIsChargedBesidesTheStepsIsPartOfThePlan) {
  flags_.declared = true;
  flags_.epsilon = 1;
  flags_.delta = 1e-5;
  flags_.steps = 100;
  const Cap cap =
      ApproximateDpCap{.epsilon = 2, .delta = 2e-5, .filter = ApproximateDpFilter::kBasic};
  flags_.session = "alone";
  const absl::StatusOr<OpenedRun> alone = Open(cap, kSamplingProbability);
  ASSERT_TRUE(alone.ok()) << alone.status();
  flags_.session = "beside";
  const Mechanism mean = Mechanism::Gaussian(8);
  absl::StatusOr<OpenedRun> run = Open(cap, kSamplingProbability, {{mean, 1}});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_GT(run->noise_multiplier, alone->noise_multiplier);
  ASSERT_TRUE(run->session.Charge(mean).ok());
  EXPECT_EQ(run->session.Charge(mean).status().code(), absl::StatusCode::kFailedPrecondition);
  const double epsilon = EpsilonAfter(*run, 100);
  EXPECT_LE(epsilon, 1);
  EXPECT_GE(epsilon, 0.998);
}

// sqrt(100) / z and 1 / 8 together are mu(1, 1e-5): z = 10 / sqrt(mu^2 - 1 / 64).
TEST_F(OpenRunTest, NoiseOfStepsBesideAnotherGaussianIsThatOfTheMuLeftForThem) {
  flags_.declared = true;
  flags_.epsilon = 1;
  flags_.delta = 1e-5;
  flags_.steps = 100;
  const absl::StatusOr<OpenedRun> run =
      Open(ApproximateDpCap{.epsilon = 1, .delta = 1e-5, .filter = ApproximateDpFilter::kBasic}, 1,
           {{Mechanism::Gaussian(8), 1}});
  ASSERT_TRUE(run.ok()) << run.status();
  const double mu = 0.2680511232;
  const double want = 10 / std::sqrt(mu * mu - 1.0 / 64);
  EXPECT_GE(run->noise_multiplier, want * (1 - 1e-8));
  EXPECT_LE(run->noise_multiplier, want * (1 + 1e-5));
}

TEST_F(OpenRunTest, NoiseForTheRestOfABudgetIsForStepsAlone) {
  flags_.fit_remaining = true;
  const absl::StatusOr<OpenedRun> run =
      Open(ZcdpCap{.rho = 1}, kSamplingProbability, {{Mechanism::Gaussian(8), 1}});
  EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(run.status().message()), testing::HasSubstr("--noise-multiplier"));
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

// Half of the cap is spent: the noise for all of it leaves half of the steps, and the noise for
// what is left all of them.
TEST_F(OpenRunTest, FitsTheWholeCapOrWhatIsLeftOfIt) {
  flags_.steps = 100;
  absl::StatusOr<OpenedRun> earlier = Open(ZcdpCap{.rho = 1}, 1);
  ASSERT_TRUE(earlier.ok()) << earlier.status();
  ASSERT_TRUE(earlier->session.Charge(Mechanism::Gaussian(1)).ok());  // rho = 1/2
  flags_.session = "cap";
  absl::StatusOr<OpenedRun> of_cap = Open(ZcdpCap{.rho = 1}, 1);
  ASSERT_TRUE(of_cap.ok()) << of_cap.status();
  EXPECT_NEAR(of_cap->noise_multiplier, std::sqrt(50), 1e-6);
  const SessionReport report{.session = of_cap->session, .mechanism = of_cap->mechanism};
  EXPECT_EQ(StepsThatFitText(report, flags_, 1),
            ", so that 100 steps fit into the whole cap; 50 fit into what is left now (--fit "
            "remaining chooses the noise for that)");
  flags_.session = "remaining";
  flags_.fit_remaining = true;
  absl::StatusOr<OpenedRun> of_rest = Open(ZcdpCap{.rho = 1}, 1);
  ASSERT_TRUE(of_rest.ok()) << of_rest.status();
  EXPECT_GE(of_rest->noise_multiplier, 10);
  EXPECT_LE(of_rest->noise_multiplier, 10 * (1 + 5e-4));
  EXPECT_EQ(
      StepsThatFitText({.session = of_rest->session, .mechanism = of_rest->mechanism}, flags_, 1),
      ", so that 100 steps fit");
  flags_.noise_multiplier = of_rest->noise_multiplier;
  EXPECT_EQ(StepsThatFitText(report, flags_, 1),
            "; 100 steps are wanted, 50 fit into what is left now");
}

TEST_F(OpenRunTest, NothingFitsWhatIsNotLeft) {
  flags_.steps = 1'000'000;
  absl::StatusOr<OpenedRun> earlier = Open(ZcdpCap{.rho = 0.5}, 1);
  ASSERT_TRUE(earlier.ok()) << earlier.status();
  ASSERT_TRUE(earlier->session.Charge(Mechanism::Gaussian(1)).ok());
  flags_.session = "remaining";
  flags_.fit_remaining = true;
  const absl::StatusOr<OpenedRun> none = Open(ZcdpCap{.rho = 0.5}, 1);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(none.status().message()),
              testing::HasSubstr("no noise makes 1000000 steps"));
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
