#include "client/trainers/fsdp/clipped_sum.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "client/trainers/fsdp/exact_sum.h"
#include "client/trainers/network/cross_entropy.h"
#include "tests/client/trainers/fsdp/small_problem.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Network;
using network::Vector;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Vector<float> PlainGradient(const Network<float>& network, const LabeledColumns& records) {
  auto tape = *network.Forward(records.inputs);
  auto losses = *network::CrossEntropy<float>(tape.activations.back(), records.labels);
  EXPECT_TRUE(network.Backward(losses.gradients, &tape).ok());
  return *network.WeightedGradient(tape, Vector<float>::Ones(records.inputs.cols()));
}

// Records of all sizes, and some that are no records.
LabeledColumns Adversarial(int features) {
  LabeledColumns records = Blobs(40, features, 3, 3);
  for (int i = 0; i < 20; ++i) records.inputs.col(i) *= std::pow(10.0F, static_cast<float>(i - 10));
  records.inputs.col(20).setZero();
  records.inputs.col(21).setConstant(std::numeric_limits<float>::max());
  records.inputs.col(22).setConstant(std::numeric_limits<float>::denorm_min());
  records.inputs(0, 23) = std::nanf("");
  records.inputs(1, 24) = kInfinity;
  records.inputs(2, 25) = -kInfinity;
  records.inputs.col(26).setConstant(1e30F);
  return records;
}

void ExpectEveryRecordAtMostOne(const Network<float>& network, const StepView& view,
                                const LabeledColumns& records) {
  for (int i = 0; i < static_cast<int>(records.labels.size()); ++i) {
    const absl::StatusOr<Eigen::VectorXd> sum = ClippedSum(network, view, records, {i});
    ASSERT_TRUE(sum.ok()) << sum.status();
    ASSERT_TRUE(sum->allFinite()) << i;
    EXPECT_LE(sum->norm(), 1) << i;
  }
}

TEST(ClippedSum, EveryRecordContributesAtMostOneAsComputed) {
  for (const bool convolution : {false, true}) {
    const Network<float> network = convolution ? SmallConvolution() : SmallMlp(36, 16, 3);
    const LabeledColumns records = Adversarial(36);
    for (const float weight : {1.0F, 1e-6F, 1e6F, 1e30F}) {
      Network<float> scaled = *Network<float>::Create(network.shape(0), network.layers());
      scaled.parameters() = weight * network.parameters();
      for (const Eigen::Index rank : {0, 1, 5, 11}) {
        for (const double clip : {1e-10, 0.1, 1e10}) {
          StepView view = ViewOf(scaled, rank, clip);
          ExpectEveryRecordAtMostOne(scaled, view, records);
          view.geometry = ClipGeometry::kJoint;
          ExpectEveryRecordAtMostOne(scaled, view, records);
        }
      }
    }
  }
}

TEST(ClippedSum, WithIndicatorsAndScalesEveryRecordContributesAtMostOne) {
  const Network<float> network = SmallMlp(36, 16, 3);
  StepView view = ViewOf(network, 4, 0.1);
  view.shares =
      *SplitNoise({.embedding_fraction = 0.6, .indicator_count = 2, .indicator_noise = 5}, 2);
  view.layers[0].column_scales = Vector<float>::LinSpaced(37, 0.01F, 3);
  const LabeledColumns records = Adversarial(36);
  ExpectEveryRecordAtMostOne(network, view, records);
  // A record that is clipped in both parts uses all of it.
  const Eigen::VectorXd large = *ClippedSum(network, view, records, {27});
  EXPECT_GE(large.norm(), 1 - 1e-3);
}

TEST(ClippedSum, OneRecordMoreChangesTheSumByItsContributionExactly) {
  const Network<float> network = SmallConvolution();
  const StepView view = ViewOf(network, 5, 0.1);
  const LabeledColumns records = Adversarial(36);
  const std::vector<int> all = All(records);
  const Eigen::VectorXd with = *ClippedSum(network, view, records, all);
  for (const int left_out : {0, 13, 21, 23, 39}) {
    std::vector<int> others;
    for (const int i : all) {
      if (i != left_out) others.push_back(i);
    }
    const Eigen::VectorXd without = *ClippedSum(network, view, records, others);
    EXPECT_EQ(with - without, *ClippedSum(network, view, records, {left_out})) << left_out;
  }
}

TEST(ClippedSum, DoesNotDependOnOrderOrThreads) {
  const Network<float> network = SmallMlp(20, 12, 3);
  const StepView view = ViewOf(network, 4, 0.3);
  const LabeledColumns records = Blobs(1000, 20, 3, 4);
  std::vector<int> batch = All(records);
  const Eigen::VectorXd sum = *ClippedSum(network, view, records, batch);
  EXPECT_EQ(*ClippedSum(network, view, records, batch, 3), sum);
  std::reverse(batch.begin(), batch.end());
  EXPECT_EQ(*ClippedSum(network, view, records, batch, 2), sum);
}

TEST(ClippedSum, WithoutClippingTheReconstructionIsThePlainGradient) {
  for (const bool convolution : {false, true}) {
    const Network<float> network = convolution ? SmallConvolution() : SmallMlp(36, 16, 3);
    const LabeledColumns records = Blobs(60, 36, 3, 5);
    const Vector<float> plain = PlainGradient(network, records);
    for (const Eigen::Index rank : {0, 1, 5}) {
      StepView view = ViewOf(network, rank, 100);
      for (const ClipGeometry geometry : {ClipGeometry::kSeparate, ClipGeometry::kJoint}) {
        view.geometry = geometry;
        const Vector<float> got =
            Reconstruct(network, view, *ClippedSum(network, view, records, All(records)));
        EXPECT_LE((got - plain).norm(), 1e-3F * plain.norm()) << rank;
      }
    }
  }
}

TEST(ClippedSum, ColumnScalesChangeNothingWithoutClippingAndNoise) {
  const Network<float> network = SmallMlp(20, 12, 3);
  const LabeledColumns records = Blobs(60, 20, 3, 5);
  StepView view = ViewOf(network, 4, 100);
  view.layers[0].column_scales = Vector<float>::LinSpaced(21, 0.1F, 2);
  view.layers[2].column_scales = Vector<float>::LinSpaced(13, 2, 0.5F);
  const Vector<float> got =
      Reconstruct(network, view, *ClippedSum(network, view, records, All(records)));
  const Vector<float> plain = PlainGradient(network, records);
  EXPECT_LE((got - plain).norm(), 1e-3F * plain.norm());
}

TEST(ClippedSum, ColumnsOfScaleZeroAreLeftOut) {
  const Network<float> network = SmallMlp(20, 12, 3);
  LabeledColumns records = Blobs(60, 20, 3, 5);
  records.inputs.col(7).setZero();
  StepView view = ViewOf(network, 4, 100);
  view.layers[0].column_scales = Vector<float>::Ones(21);
  view.layers[0].column_scales.tail(1).setZero();
  Vector<float> want = PlainGradient(network, records);
  want.segment(20 * 12, 12).setZero();
  const Vector<float> got =
      Reconstruct(network, view, *ClippedSum(network, view, records, All(records)));
  EXPECT_LE((got - want).norm(), 1e-3F * want.norm());
  EXPECT_EQ(got.segment(20 * 12, 12).norm(), 0);
}

TEST(ClippedSum, ClipsTheTwoPartsToTheirOwnNorms) {
  const Network<float> network = SmallMlp(20, 12, 3);
  const LabeledColumns records = Blobs(5, 20, 3, 5);
  const StepView view = ViewOf(network, 4, 1e-3);  // below every norm
  const ContributionLayout layout = *LayOut(network, view);
  for (int i = 0; i < 5; ++i) {
    const Eigen::VectorXd sum = *ClippedSum(network, view, records, {i});
    const auto& first = layout.layers[0];
    const double embedding =
        sum.segment(first.embedding_begin, first.embedding_rows * first.columns).norm();
    EXPECT_NEAR(embedding, view.shares.embedding, 1e-3);
    EXPECT_NEAR(std::sqrt(sum.squaredNorm() - embedding * embedding), view.shares.residual, 1e-3);
  }
}

TEST(ClippedSum, IndicatorsCountTheRecordsWithinTheClip) {
  const Network<float> network = SmallMlp(20, 12, 3);
  LabeledColumns records = Blobs(30, 20, 3, 5);
  auto tape = *network.Forward(records.inputs);
  ASSERT_TRUE(
      network
          .Backward(
              network::CrossEntropy<float>(tape.activations.back(), records.labels)->gradients,
              &tape)
          .ok());
  Eigen::ArrayXd norms = network.SquaredNorms(tape).sqrt();
  std::sort(norms.begin(), norms.end());
  StepView view = ViewOf(network, 0, 1);
  view.residual_clip = (norms[19] + norms[20]) / 2;  // 20 within
  view.shares = *SplitNoise({.indicator_count = 1, .indicator_noise = 5}, 1);
  EXPECT_EQ(ClippedSum(network, view, records, All(records))->tail(1).value(),
            (20 - 10) * view.shares.indicator);
  records.inputs(0, 0) = std::nanf("");  // counts as too large, wherever it was
  const double votes = ClippedSum(network, view, records, All(records))->tail(1).value();
  EXPECT_TRUE(votes == 10 * view.shares.indicator || votes == 8 * view.shares.indicator);
}

TEST(ClippedSum, OfNothingIsZero) {
  const Network<float> network = SmallMlp(20, 12, 3);
  const LabeledColumns records = Blobs(3, 20, 3, 5);
  const Eigen::VectorXd sum = *ClippedSum(network, ViewOf(network, 4, 1), records, {});
  EXPECT_EQ(sum.size(), LayOut(network, ViewOf(network, 4, 1))->size);
  EXPECT_EQ(sum.norm(), 0);
}

TEST(ClippedSum, RefusesWhatDoesNotFit) {
  const Network<float> network = SmallMlp(20, 12, 3);
  const LabeledColumns records = Blobs(3, 20, 3, 5);
  const auto error = [&](const StepView& view, const std::vector<int>& batch = {0}) {
    const auto sum = ClippedSum(network, view, records, batch);
    EXPECT_EQ(sum.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(sum.status().message());
  };
  const StepView good = ViewOf(network, 4, 1);
  StepView view = good;
  view.layers.pop_back();
  EXPECT_THAT(error(view), testing::HasSubstr("layers: got 2"));
  view = good;
  view.layers[1].subspace = RandomSubspace(2, 12, 1);
  EXPECT_THAT(error(view), testing::HasSubstr("layers[1].subspace"));
  view = good;
  view.layers[0].subspace = RandomSubspace(2, 11, 1);
  EXPECT_THAT(error(view), testing::HasSubstr("layers[0].subspace: got 2 x 11"));
  view = good;
  view.layers[0].column_scales = Vector<float>::Constant(21, -1);
  EXPECT_THAT(error(view), testing::HasSubstr("layers[0].column_scales"));
  view = good;
  view.embedding_clip = 0;
  EXPECT_THAT(error(view), testing::HasSubstr("embedding_clip: got 0"));
  view = good;
  view.shares.embedding = 0.9;
  EXPECT_THAT(error(view), testing::HasSubstr("shares"));
  view = good;
  view.shares.embedding = 0;
  EXPECT_THAT(error(view), testing::HasSubstr("shares"));
  EXPECT_THAT(error(good, {0, 3}), testing::HasSubstr("got record 3"));
  EXPECT_THAT(error(good, {-1}), testing::HasSubstr("got record -1"));
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
