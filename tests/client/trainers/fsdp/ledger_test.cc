// Sound FSDP with the ledger as its release: what is charged is what is released.

#include "gtest/gtest.h"

#include <string>
#include <utility>
#include <vector>

#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/poisson_sampler.h"
#include "epsledger/client.h"
#include "tests/client/cpp/fake_ledger.h"
#include "tests/client/trainers/fsdp/small_problem.h"

namespace epsledger::trainers::fsdp {
namespace {

class FsdpLedgerTest : public testing::Test {
 protected:
  FsdpLedgerTest()
      : client_(*Client::Connect(
            {.address = ledger_.address(),
             .retry = {.max_tries = 2, .initial_backoff = std::chrono::milliseconds(0)}})),
        session_(*client_.OpenSession(
            {.budget = "b", .session = "s", .create = NewSession{.no_own_cap = true}})) {
    options_.max_steps = 12;
    options_.noise_multiplier = 2;
    options_.expected_batch_size = 50;
    options_.subspace = SubspaceKind::kHistory;
    options_.rank = 4;
    options_.quantile = QuantileClipping{.indicator_noise = 10};
  }

  TrainingResult Train(int64_t lease = 0) {
    LedgerRelease release(session_, Mechanism::PoissonSampled(0.5, Mechanism::Gaussian(2)), lease);
    PoissonSampler sampler = *PoissonSampler::Create(0.5, 100);
    const auto result = TrainSound(
        network_, records_, options_, InitialState(network_, options_),
        [&] { return sampler.Draw(); }, release);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  FakeLedger ledger_;
  Client client_;
  Session session_;
  LabeledColumns records_ = Blobs(100, 20, 5, 1);
  network::Network<float> network_ = SmallMlp(20, 16, 5);
  TrainingOptions options_;
};

TEST_F(FsdpLedgerTest, EveryReleaseIsOneChargeOfOneSampledGaussian) {
  const TrainingResult result = Train();
  EXPECT_EQ(result.releases, 12);
  EXPECT_EQ(ledger_.spent(), 12);
  for (const v1::ChargeRequest& request : ledger_.charge_requests()) {
    EXPECT_EQ(request.count(), 1);
    EXPECT_EQ(request.event().poisson_sampled().sampling_probability(), 0.5);
    EXPECT_EQ(request.event().poisson_sampled().event().gaussian().noise_multiplier(), 2);
  }
}

TEST_F(FsdpLedgerTest, StepsFromALeaseAreChargedBeforeTheyAreTaken) {
  EXPECT_EQ(Train(4).releases, 12);
  EXPECT_EQ(ledger_.spent(), 12);
}

TEST_F(FsdpLedgerTest, ARefusalReleasesNothingMore) {
  ledger_.set_capacity(5);
  const TrainingResult result = Train();
  EXPECT_EQ(result.stop_reason, StopReason::kRefused);
  EXPECT_EQ(result.releases, 5);
  EXPECT_EQ(result.state.step, 5);
  EXPECT_EQ(ledger_.spent(), 5);
}

TEST_F(FsdpLedgerTest, AnUnknownOutcomeReleasesNothingAndStaysCharged) {
  ledger_.Script({Fault::kNone, Fault::kNone, Fault::kCommitThenUnavailable,
                  Fault::kCommitThenUnavailable, Fault::kCommitThenUnavailable});
  const TrainingResult result = Train();
  EXPECT_EQ(result.stop_reason, StopReason::kReleaseFailed);
  EXPECT_EQ(result.releases, 2);
  EXPECT_EQ(ledger_.spent(), 3);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
