#include "client/trainers/istdp/canaries.h"

#include "gtest/gtest.h"

#include <optional>
#include <utility>

#include "client/trainers/istdp/sound.h"
#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kRecords = 100;
constexpr int kFeatures = 20;
constexpr int kCanaries = 1000;

class CanariesTest : public testing::Test {
 protected:
  void SetUp() override {
    train_ = MakeSparseProblem({.record_count = kRecords, .feature_count = kFeatures}).rows;
    held_out_ = MakeSparseProblem({.record_count = 5, .feature_count = kFeatures, .seed = 2}).rows;
    before_ = train_;
    absl::StatusOr<Canaries> canaries = Canaries::Plant(kCanaries, 0.5, &train_, &held_out_);
    ASSERT_TRUE(canaries.ok()) << canaries.status();
    canaries_.emplace(*std::move(canaries));
  }

  LabeledRows before_;
  LabeledRows train_;
  LabeledRows held_out_;
  std::optional<Canaries> canaries_;
};

TEST_F(CanariesTest, AreRecordsWithAFeatureOfTheirOwn) {
  EXPECT_EQ(held_out_.features.rows(), 5);
  EXPECT_EQ(held_out_.features.cols(), kFeatures + kCanaries);
  EXPECT_EQ(train_.features.cols(), kFeatures + kCanaries);
  EXPECT_TRUE(train_.features.isCompressed());
  // The records are as they were.
  EXPECT_EQ(Eigen::MatrixXd(train_.features.topRows(kRecords)).leftCols(kFeatures),
            Eigen::MatrixXd(before_.features));
  EXPECT_EQ(train_.labels.head(kRecords), before_.labels);
  int row = kRecords;
  for (int canary = 0; canary < kCanaries; ++canary) {
    if (!canaries_->is_member()[canary]) continue;
    EXPECT_EQ(train_.features.row(row).nonZeros(), 1);
    EXPECT_EQ(train_.features.coeff(row, kFeatures + canary), 0.5);
    EXPECT_EQ(train_.labels[row], 1);
    ++row;
  }
  EXPECT_EQ(train_.features.rows(), row);
  EXPECT_EQ(train_.labels.size(), row);
  EXPECT_NEAR(row - kRecords, 500, 100);  // more than six standard deviations
}

TEST_F(CanariesTest, ShowWhoIsAMemberWhereThereIsNoNoise) {
  const LinearLoss loss = *LinearLoss::Create(LogisticMargin{}, train_, 0.5);
  TrainingOptions options;
  options.max_steps = 3;
  options.public_record_count = kRecords;
  options.steps = FixedSteps(0.25);
  options.regularizer = McpPenalty{.lambda = 0.01, .shape = 300};
  ExactRelease no_noise;
  const auto result = TrainSound(loss, options, no_noise,
                                 [this](const StepReport& step) { canaries_->Observe(step); });
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(canaries_->scores().size(), kCanaries);
  for (int canary = 0; canary < kCanaries; ++canary) {
    if (canaries_->is_member()[canary]) {
      // The residual of a margin near 0 is 1/2, thrice.
      EXPECT_NEAR(canaries_->scores()[canary], 3 * 0.5 * 0.5 / kRecords, 1e-4);
    } else {
      EXPECT_EQ(canaries_->scores()[canary], 0);
    }
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
