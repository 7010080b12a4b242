#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <string>

#include "client/trainers/fsdp/fsdp.h"
#include "tests/client/trainers/fsdp/small_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Network;
using network::Vector;

TrainingOptions SmallOptions() {
  return {.max_steps = 60,
          .noise_multiplier = 1,
          .expected_batch_size = 600,
          .learning_rate = 0.5,
          .momentum = 0.5,
          .rank = 4};
}

double Accuracy(const Network<float>& network, const LabeledColumns& records) {
  const network::Matrix<float> logits = network.Forward(records.inputs)->activations.back();
  int right = 0;
  for (Eigen::Index i = 0; i < logits.cols(); ++i) {
    Eigen::Index best = 0;
    logits.col(i).maxCoeff(&best);
    right += best == records.labels[static_cast<size_t>(i)];
  }
  return right / static_cast<double>(logits.cols());
}

class TrainingTest : public testing::Test {
 protected:
  absl::StatusOr<TrainingResult> Train(const TrainingOptions& options, GradientRelease& release,
                                       const StepObserver& observer = {}) {
    return TrainSound(
        network_, records_, options, InitialState(network_, options),
        [&]() -> absl::StatusOr<std::vector<int>> { return All(records_); }, release, observer);
  }

  LabeledColumns records_ = Blobs(600, 20, 5, 1);
  LabeledColumns held_out_ = Blobs(500, 20, 5, 2);
  Network<float> network_ = SmallMlp(20, 16, 5);
};

TEST_F(TrainingTest, LearnsWithNoiseUnderEverySubspaceGeometryAndRelevance) {
  const Vector<float> start = network_.parameters();
  for (const SubspaceKind subspace : {SubspaceKind::kOff, SubspaceKind::kHistory,
                                      SubspaceKind::kNextLayerWeights, SubspaceKind::kPublic}) {
    for (const ClipGeometry geometry : {ClipGeometry::kSeparate, ClipGeometry::kJoint}) {
      for (const RelevanceKind relevance :
           {RelevanceKind::kOff, RelevanceKind::kWeights, RelevanceKind::kHistory}) {
        network_.parameters() = start;
        TrainingOptions options = SmallOptions();
        options.subspace = subspace;
        options.geometry = geometry;
        options.relevance = relevance;
        options.quantile = QuantileClipping{.indicator_noise = 30};
        options.public_records = Blobs(50, 20, 5, 3);
        options.average_decay = 0.9;
        SeededGaussianRelease release(1, options.noise_multiplier);
        const auto result = Train(options, release, [&](const StepReport& step) {
          EXPECT_TRUE(step.fraction_within_clip.has_value());
          for (const network::Matrix<float>& rows : step.state.subspaces) {
            if (rows.size() == 0) continue;
            const network::Matrix<float> gram = rows * rows.transpose();
            EXPECT_LE((gram - network::Matrix<float>::Identity(gram.rows(), gram.cols()))
                          .cwiseAbs()
                          .maxCoeff(),
                      1e-5F);
          }
        });
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ(result->stop_reason, StopReason::kStepLimit);
        EXPECT_EQ(result->releases, 60);
        EXPECT_GT(Accuracy(network_, held_out_), 0.9)
            << static_cast<int>(subspace) << static_cast<int>(geometry)
            << static_cast<int>(relevance);
        network_.parameters() = result->state.average;
        EXPECT_GT(Accuracy(network_, held_out_), 0.9);
      }
    }
  }
}

TEST_F(TrainingTest, WithoutNoiseAndClippingItIsGradientDescent) {
  TrainingOptions options = SmallOptions();
  options.max_steps = 5;
  options.embedding_clip = options.residual_clip = 30;
  options.momentum = 0;
  const Vector<float> start = network_.parameters();
  ExactRelease exact;
  ASSERT_TRUE(Train(options, exact).ok());
  const Vector<float> plain = network_.parameters();
  network_.parameters() = start;
  options.subspace = SubspaceKind::kHistory;
  ASSERT_TRUE(Train(options, exact).ok());
  EXPECT_LE((network_.parameters() - plain).norm(), 1e-3F * (plain - start).norm());
}

// What is not a function of released vectors would differ between these two runs: the second sees
// other records, and the same released vectors.
class ReplayingRelease : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    if (position_ == released_.size()) {
      std::mt19937_64 random(position_);
      std::normal_distribution<double> normal;
      Eigen::VectorXd vector = exact_sum;
      for (double& value : vector) value += normal(random);
      released_.push_back(vector);
    }
    return released_[position_++];
  }
  void Rewind() { position_ = 0; }

 private:
  std::vector<Eigen::VectorXd> released_;
  size_t position_ = 0;
};

TEST_F(TrainingTest, EverythingIsAFunctionOfTheReleasedVectors) {
  TrainingOptions options = SmallOptions();
  options.subspace = SubspaceKind::kHistory;
  options.relevance = RelevanceKind::kHistory;
  options.quantile = QuantileClipping{.indicator_noise = 30};
  const Vector<float> start = network_.parameters();
  ReplayingRelease release;
  const auto first = Train(options, release);
  ASSERT_TRUE(first.ok());
  release.Rewind();
  network_.parameters() = start;
  records_ = Blobs(500, 20, 5, 77);
  records_.inputs *= 5;
  const auto second = Train(options, release);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(first->state.parameters, second->state.parameters);
  EXPECT_EQ(first->state.subspaces[0], second->state.subspaces[0]);
  EXPECT_EQ(first->state.scales[0], second->state.scales[0]);
  EXPECT_EQ(first->state.embedding_clip, second->state.embedding_clip);
  EXPECT_EQ(first->state.residual_clip, second->state.residual_clip);
}

TEST_F(TrainingTest, QuantileClippingFindsTheQuantile) {
  TrainingOptions options = SmallOptions();
  options.learning_rate = 1e-6;
  options.max_steps = 150;
  options.residual_clip = 1e3;
  options.quantile = QuantileClipping{.quantile = 0.3, .rate = 0.5, .indicator_noise = 5};
  SeededGaussianRelease release(1, options.noise_multiplier);
  double last = 0;
  const auto result =
      Train(options, release, [&](const StepReport& step) { last = *step.fraction_within_clip; });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR(last, 0.3, 0.08);
  EXPECT_LT(result->state.residual_clip, 100);
}

TEST_F(TrainingTest, RefusalAndFailureEndTrainingWithWhatItHas) {
  for (const auto& [status, reason] :
       {std::pair{absl::FailedPreconditionError("spent"), StopReason::kRefused},
        std::pair{absl::UnavailableError("gone"), StopReason::kReleaseFailed}}) {
    EndingRelease release(3, status);
    const auto result = Train(SmallOptions(), release);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->stop_reason, reason);
    EXPECT_EQ(result->release_status, status);
    EXPECT_EQ(result->releases, 3);
    EXPECT_EQ(result->state.step, 3);
    EXPECT_EQ(release.calls, 4);
  }
}

TEST_F(TrainingTest, AReleaseThatCannotBeUsedCountsAndEndsTraining) {
  class BadRelease : public GradientRelease {
   public:
    absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& sum, double) override {
      Eigen::VectorXd bad = sum;
      bad[0] = std::nan("");
      return bad;
    }
  } release;
  const auto result = Train(SmallOptions(), release);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stop_reason, StopReason::kReleaseFailed);
  EXPECT_EQ(result->releases, 1);
  EXPECT_EQ(result->state.step, 0);
}

TEST_F(TrainingTest, EmptyBatchesAreSteps) {
  TrainingOptions options = SmallOptions();
  options.max_steps = 3;
  options.subspace = SubspaceKind::kHistory;
  SeededGaussianRelease release(1, 1);
  const auto result = TrainSound(
      network_, records_, options, InitialState(network_, options),
      []() -> absl::StatusOr<std::vector<int>> { return std::vector<int>(); }, release);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->releases, 3);
}

TEST_F(TrainingTest, OptionsOutsideTheirDomainsAreRefusedBeforeAnyRelease) {
  EndingRelease release(100, absl::OkStatus());
  const auto error = [&](auto change) {
    TrainingOptions options = SmallOptions();
    options.subspace = SubspaceKind::kHistory;
    change(options);
    const auto result = Train(options, release);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(release.calls, 0);
    return std::string(result.status().message());
  };
  using testing::HasSubstr;
  EXPECT_THAT(error([](auto& o) { o.max_steps = 0; }), HasSubstr("max_steps: got 0"));
  EXPECT_THAT(error([](auto& o) { o.noise_multiplier = 0; }), HasSubstr("noise_multiplier: got 0"));
  EXPECT_THAT(error([](auto& o) { o.expected_batch_size = 0; }), HasSubstr("expected_batch_size"));
  EXPECT_THAT(error([](auto& o) { o.learning_rate = 0; }), HasSubstr("learning_rate"));
  EXPECT_THAT(error([](auto& o) { o.embedding_clip = -1; }), HasSubstr("embedding_clip"));
  EXPECT_THAT(error([](auto& o) { o.residual_clip = std::nan(""); }), HasSubstr("residual_clip"));
  EXPECT_THAT(error([](auto& o) { o.embedding_fraction = 1; }), HasSubstr("embedding_fraction"));
  EXPECT_THAT(error([](auto& o) { o.rank = 0; }), HasSubstr("rank"));
  EXPECT_THAT(error([](auto& o) { o.quantile = QuantileClipping{}; }),
              HasSubstr("indicator_noise"));
  EXPECT_THAT(error([](auto& o) { o.subspace = SubspaceKind::kPublic; }),
              HasSubstr("public_records"));
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
