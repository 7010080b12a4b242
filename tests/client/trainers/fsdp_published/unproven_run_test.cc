#include "client/trainers/fsdp_published/unproven_run.h"

#include "gtest/gtest.h"

#include <array>
#include <random>

#include "client/trainers/data/image_sets.h"
#include "client/trainers/fsdp_published/command_line.h"
#include "client/trainers/fsdp_published/softmax_training.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::trainers::fsdp_published {
namespace {

class UnprovenRunTest : public testing::Test {
 protected:
  void SetUp() override {
    client_.emplace(*Client::Connect({.address = ledger_.address()}));
    budget_.name = "budgets/adult";
  }

  FakeLedger ledger_;
  std::optional<Client> client_;
  Budget budget_;
  const UnprovenRun run_{.session = "run-1", .data = "digits", .claim = {.epsilon = 2}};
};

TEST_F(UnprovenRunTest, ChargesOneNonPrivateEventAndSaysWhatItClaims) {
  const absl::StatusOr<Session> session = OpenUnprovenRun(run_, budget_, *client_);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_EQ(ledger_.charge_requests().size(), 1U);
  EXPECT_TRUE(ledger_.charge_requests()[0].event().has_non_private());
  EXPECT_EQ(ledger_.charge_requests()[0].count(), 1);
  ASSERT_EQ(ledger_.session_requests().size(), 1U);
  const v1::Claim claim = ledger_.session_requests()[0].session().claim();
  EXPECT_EQ(static_cast<int>(claim.status()),
            static_cast<int>(Claim::Status::kCounterexampleKnown));
  EXPECT_EQ(claim.epsilon(), 2);
  EXPECT_EQ(claim.delta(), 1e-5);
}

TEST_F(UnprovenRunTest, IsRefusedByALedgerThatHasNoRoomForIt) {
  ledger_.set_capacity(0);
  const absl::StatusOr<Session> session = OpenUnprovenRun(run_, budget_, *client_);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(RefusalOf(session.status()).has_value());
  EXPECT_EQ(ledger_.spent(), 0);
}

template <size_t N>
ParsedCommandLine Parse(const std::array<const char*, N>& arguments) {
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ParseCommandLine, WantsTheOptIn) {
  using Arguments = std::array<const char*, 3>;
  EXPECT_EQ(Parse(Arguments{"epsledger-fsdp-published", "--budget", "b"}).exit_code, 2);
  EXPECT_FALSE(Parse(Arguments{"epsledger-fsdp-published", "--budget", "b"}).options.has_value());
  const auto parsed = Parse(
      std::array<const char*, 4>{"epsledger-fsdp-published", "--budget", "b", "--accept-unproven"});
  ASSERT_TRUE(parsed.options.has_value());
  EXPECT_EQ(parsed.options->training.steps, 10);
}

TEST(ParseCommandLine, RefusesNoiseThatIsNotThePapers) {
  EXPECT_EQ(Parse(std::array<const char*, 6>{"epsledger-fsdp-published", "--budget", "b",
                                             "--accept-unproven", "--noise-multiplier", "1"})
                .exit_code,
            2);
}

// Two classes of one bright pixel each.
LocatedImages TwoClasses() {
  LocatedImages located{.name = "two", .class_count = 2};
  for (LabeledImages* images : {&located.train, &located.held_out.images}) {
    images->channels = 1;
    images->height = 1;
    images->width = 2;
    images->pixels = Eigen::MatrixXf::Zero(2, 40);
    for (int i = 0; i < 40; ++i) {
      images->pixels(i % 2, i) = 0.5F + 0.01F * static_cast<float>(i);
      images->labels.push_back(i % 2);
    }
  }
  return located;
}

TEST(TrainAsPublished, LearnsWithoutItsNoiseAndNothingWithIt) {
  const LocatedImages images = TwoClasses();
  TrainingOptions options;
  options.release.factorization = {.method = FactorizationMethod::kExact, .rank = 1};
  options.steps = 30;
  const BatchSource all = []() -> absl::StatusOr<std::vector<int>> {
    std::vector<int> batch;
    for (int i = 0; i < 40; ++i) batch.push_back(i);
    return batch;
  };
  int64_t steps = 0;
  const auto count = [&steps](const StepReport& report) { steps = report.step; };
  const NormalSource silent = [] { return 0.0; };
  EXPECT_EQ(
      Accuracy(*TrainAsPublished(images.train, 2, options, all, silent, count), images.held_out),
      1);
  EXPECT_EQ(steps, 30);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  double ratio = 0;
  const SoftmaxLayer layer = *TrainAsPublished(
      images.train, 2, options, all, [&] { return normal(random); },
      [&ratio](const StepReport& report) {
        // Later the noise has saturated the layer: all gradients are 0, and so is the noise (B2).
        if (report.step == 1) ratio = report.release.noisy_norm / report.release.signal_norm;
      });
  EXPECT_GT(ratio, 10);
  EXPECT_GT(layer.weights.norm(), 100);
}

TEST(GradientOf, IsTheDerivativeOfTheCrossEntropy) {
  SoftmaxLayer layer{Eigen::MatrixXd::Random(4, 3)};
  const Eigen::Vector3d pixels(0.2, 0.9, 0.4);
  const auto loss = [&pixels](const Eigen::MatrixXd& weights) {
    Eigen::VectorXd x(4);
    x << pixels, 1;
    const Eigen::VectorXd z = weights.transpose() * x;
    return std::log(z.array().exp().sum()) - z[1];
  };
  const RecordGradient record = GradientOf(layer, pixels, 1, 2);
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 3; ++column) {
      Eigen::MatrixXd up = layer.weights;
      Eigen::MatrixXd down = layer.weights;
      up(row, column) += 1e-5;
      down(row, column) -= 1e-5;
      EXPECT_NEAR(record.gradient(row, column), (loss(up) - loss(down)) / 2e-5, 1e-8);
    }
  }
  EXPECT_NEAR(record.row_epsilons.sum(), 4 * 2, 1e-9);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
