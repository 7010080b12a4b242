// Every mode through the client library and a ledger: what is released was charged, one for one.

#include "client/trainers/istdp/mode_run.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/trainers/istdp/sparse_problem.h"
#include "epsledger/client.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kRecords = 200;
constexpr int kFeatures = 20;

class ModeRunTest : public testing::TestWithParam<Mode> {
 protected:
  ModeRunTest() {
    SparseProblem problem =
        MakeSparseProblem({.record_count = kRecords, .feature_count = kFeatures});
    // Two records of nonsense, which must count for nothing.
    problem.rows.features.coeffRef(3, 0) = std::numeric_limits<double>::quiet_NaN();
    problem.rows.features.coeffRef(4, 1) = std::numeric_limits<double>::infinity();
    rows_ = problem.rows;
    options_.mode = GetParam();
    options_.backtracking.lipschitz_constant = 0.25;
    training_.public_record_count = kRecords;
    training_.max_steps = 10;
    training_.steps =
        GetParam() == Mode::kPublishedNoise ? FixedSteps(0.25) : BarzilaiBorweinSteps(0.25);
    training_.regularizer = McpPenalty{.lambda = 0.01, .shape = 300};
  }

  ModeOutcome Run() {
    auto client = Client::Connect({.address = ledger_.address()});
    auto session = client->OpenSession(
        {.budget = "adult", .session = "run-1", .create = NewSession{.no_own_cap = true}});
    EXPECT_TRUE(session.ok()) << session.status();
    const LinearLoss loss = *LinearLoss::Create(LogisticMargin{}, rows_, options_.clip_norm);
    const StepObserver observer = [this](const StepReport& step) {
      EXPECT_TRUE(step.theta.allFinite());
      ++steps_;
    };
    absl::StatusOr<ModeOutcome> outcome = RunMode({.options = options_,
                                                   .loss = loss,
                                                   .training = training_,
                                                   .session = *session,
                                                   .noise_multiplier = 5,
                                                   .observer = observer});
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return *std::move(outcome);
  }

  // Charges that are not for a release.
  int extra() const { return GetParam() == Mode::kAsPublished ? 1 : 0; }
  int releases_per_step() const { return GetParam() == Mode::kSoundLineSearch ? 2 : 1; }

  FakeLedger ledger_;
  LabeledRows rows_;
  CommandLine options_;
  TrainingOptions training_;
  int steps_ = 0;
};

TEST_P(ModeRunTest, ChargesEveryReleaseOnce) {
  const ModeOutcome outcome = Run();
  EXPECT_EQ(outcome.result.steps, 10);
  EXPECT_EQ(steps_, 10);
  EXPECT_EQ(outcome.result.releases, 10 * releases_per_step());
  EXPECT_EQ(ledger_.spent(), outcome.result.releases + extra());
  EXPECT_GT(outcome.charge_time.count(), 0);
}

TEST_P(ModeRunTest, ARefusalStopsBeforeTheNoise) {
  ledger_.set_capacity(7);
  const ModeOutcome outcome = Run();
  EXPECT_EQ(outcome.result.stop_reason, StopReason::kRefused);
  EXPECT_EQ(outcome.result.releases, 7 - extra());
  EXPECT_EQ(steps_, (7 - extra()) / releases_per_step());
  EXPECT_EQ(ledger_.spent(), 7);
}

TEST_P(ModeRunTest, ASpentBudgetReleasesNothing) {
  ledger_.set_capacity(0);
  const ModeOutcome outcome = Run();
  EXPECT_EQ(outcome.result.stop_reason, StopReason::kRefused);
  EXPECT_EQ(outcome.result.releases, 0);
  EXPECT_EQ(outcome.result.last, Eigen::VectorXd::Zero(kFeatures));
}

TEST_P(ModeRunTest, ChargesTheEventsOfItsMode) {
  training_.max_steps = 1;
  Run();
  const auto requests = ledger_.charge_requests();
  ASSERT_EQ(requests.size(), static_cast<size_t>(releases_per_step() + extra()));
  if (GetParam() == Mode::kAsPublished) {
    EXPECT_TRUE(requests[0].event().has_non_private());
    EXPECT_NE(requests[0].event().non_private().reason(), "");
    EXPECT_EQ(requests[1].event().gaussian().noise_multiplier(), 5);
  } else if (GetParam() == Mode::kSoundLineSearch) {
    EXPECT_DOUBLE_EQ(requests[0].event().gaussian().noise_multiplier(), 5 / std::sqrt(0.8));
    EXPECT_DOUBLE_EQ(requests[1].event().gaussian().noise_multiplier(), 5 / std::sqrt(0.2));
  } else {
    EXPECT_EQ(requests[0].event().gaussian().noise_multiplier(), 5);
  }
}

class TwoPhaseRunTest : public ModeRunTest {};

TEST_P(TwoPhaseRunTest, ChargesTheEventOfEachPhase) {
  options_.ledger.steps = 10;
  options_.two_phase = {.first_steps = 5, .first_share = 0.4, .contribution = 0.6};
  const ModeOutcome outcome = Run();
  EXPECT_EQ(outcome.result.steps, 10);
  const auto requests = ledger_.charge_requests();
  ASSERT_EQ(requests.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_DOUBLE_EQ(requests[i].event().gaussian().noise_multiplier(),
                     5 * std::sqrt(i < 5 ? 5 / 4.0 : 5 / 6.0));
  }
  ledger_.set_capacity(17);
  const ModeOutcome refused = Run();
  EXPECT_EQ(refused.result.stop_reason, StopReason::kRefused);
  EXPECT_EQ(refused.result.releases, 7);
}

// The published algorithm has no batches.
class SampledModeRunTest : public ModeRunTest {};

TEST_P(SampledModeRunTest, ChargesPoissonBatchesAsSuch) {
  options_.sampling_probability = 0.5;
  training_.batches = {.sampling_probability = 0.5, .draw = [] { return Batch{1, 2, 3, 4}; }};
  training_.max_steps = 3;
  const ModeOutcome outcome = Run();
  EXPECT_EQ(outcome.result.steps, 3);
  EXPECT_EQ(ledger_.spent(), outcome.result.releases);
  for (const auto& request : ledger_.charge_requests()) {
    EXPECT_EQ(request.event().poisson_sampled().sampling_probability(), 0.5);
  }
}

// The baselines of one release.
class PerturbationRunTest : public ModeRunTest {};

TEST_P(PerturbationRunTest, ChargesItsOneReleaseAndStopsAtARefusal) {
  options_.l2 = 0.1;
  options_.clip_norm = 1.000002;
  const ModeOutcome outcome = Run();
  EXPECT_EQ(outcome.result.releases, 1);
  EXPECT_EQ(ledger_.spent(), 1);
  EXPECT_TRUE(outcome.result.last.allFinite());
  const auto event = ledger_.charge_requests()[0].event();
  if (GetParam() == Mode::kObjectivePerturbation) {
    EXPECT_EQ(event.approximate_dp().epsilon(), 1);
    EXPECT_EQ(event.approximate_dp().delta(), 1e-5);
  } else {
    EXPECT_EQ(event.gaussian().noise_multiplier(), 5);
  }
  ledger_.set_capacity(1);
  const ModeOutcome refused = Run();
  EXPECT_EQ(refused.result.stop_reason, StopReason::kRefused);
  EXPECT_EQ(refused.result.releases, 0);
  EXPECT_EQ(refused.result.last, Eigen::VectorXd::Zero(kFeatures));
}

std::string ModeName(const testing::TestParamInfo<Mode>& mode) {
  std::string name(Describe(mode.param).name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllModes, ModeRunTest,
                         testing::Values(Mode::kSound, Mode::kSoundLineSearch, Mode::kBacktracking,
                                         Mode::kPublishedNoise, Mode::kAsPublished),
                         ModeName);
INSTANTIATE_TEST_SUITE_P(TwoPhases, TwoPhaseRunTest, testing::Values(Mode::kTwoPhase), ModeName);
INSTANTIATE_TEST_SUITE_P(Perturbations, PerturbationRunTest,
                         testing::Values(Mode::kOutputPerturbation, Mode::kObjectivePerturbation),
                         ModeName);
INSTANTIATE_TEST_SUITE_P(AllSampledModes, SampledModeRunTest,
                         testing::Values(Mode::kSound, Mode::kSoundLineSearch, Mode::kBacktracking,
                                         Mode::kPublishedNoise),
                         ModeName);

TEST(Mode, HasTheLabelsOfTheSpecification) {
  EXPECT_EQ(LabelText(Describe(Mode::kSound)), "proven");
  EXPECT_EQ(LabelText(Describe(Mode::kBacktracking)), "proven");
  EXPECT_EQ(LabelText(Describe(Mode::kPublishedNoise)), "proven");
  EXPECT_EQ(LabelText(Describe(Mode::kAsPublished)),
            "as published; claimed guarantee not proven (counterexample_known)");
}

}  // namespace
}  // namespace epsledger::trainers::istdp
