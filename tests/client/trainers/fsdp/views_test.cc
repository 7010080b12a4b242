// Sums over records with several views each: the gradient of a record is the mean over its views,
// clipped as one.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/fsdp/exact_sum.h"
#include "client/trainers/network/cross_entropy.h"
#include "tests/client/trainers/fsdp/small_problem.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Network;
using network::Vector;

// Records with as many views: the first are blobs, the others are near them, far from them, their
// negatives, and some that are no records.
LabeledColumns BlobsWithViews(int features, int views) {
  LabeledColumns records = Blobs(40, features, 3, 3);
  for (int view = 1; view < views; ++view) {
    network::Matrix<float> more = Blobs(40, features, 3, 100 + static_cast<uint64_t>(view)).inputs;
    for (int i = 0; i < 12; ++i) {
      const float tiny = std::pow(10.0F, static_cast<float>(-i));
      more.col(i) = -(1 + tiny) * records.inputs.col(i);
    }
    for (int i = 12; i < 20; ++i) {
      more.col(i) = std::pow(10.0F, static_cast<float>(i - 16)) * records.inputs.col(i);
    }
    more.col(20).setZero();
    more.col(21).setConstant(std::numeric_limits<float>::max());
    more(0, 22) = std::nanf("");
    more(1, 23) = std::numeric_limits<float>::infinity();
    more.col(24) = records.inputs.col(24);
    more.col(25).setConstant(std::numeric_limits<float>::denorm_min());
    records.more_views.push_back(std::move(more));
  }
  return records;
}

// The mean over views of the plain gradients, of all records together.
Vector<float> PlainMeanGradient(const Network<float>& network, const LabeledColumns& records) {
  Vector<float> mean = Vector<float>::Zero(network.parameter_count());
  for (Eigen::Index view = 0; view < records.view_count(); ++view) {
    auto tape = *network.Forward(view == 0 ? records.inputs
                                           : records.more_views[static_cast<size_t>(view - 1)]);
    auto losses = *network::CrossEntropy<float>(tape.activations.back(), records.labels);
    EXPECT_TRUE(network.Backward(losses.gradients, &tape).ok());
    mean += *network.WeightedGradient(tape, Vector<float>::Ones(records.inputs.cols()));
  }
  return mean / static_cast<float>(records.view_count());
}

Network<float> LinearWithZeroWeights(int features) {
  return *Network<float>::Create({.channels = features}, {network::FullyConnected{3}});
}

TEST(Views, HoweverManyARecordContributesAtMostOneAsComputed) {
  for (const int views : {2, 3, 8}) {
    const LabeledColumns records = BlobsWithViews(36, views);
    for (const bool convolution : {false, true}) {
      const Network<float> network = convolution ? SmallConvolution() : SmallMlp(36, 16, 3);
      for (const Eigen::Index rank : {0, 5}) {
        for (const double clip : {1e-10, 0.1, 1e10}) {
          StepView view = ViewOf(network, rank, clip);
          for (const ClipGeometry geometry : {ClipGeometry::kSeparate, ClipGeometry::kJoint}) {
            view.geometry = geometry;
            for (int i = 0; i < 40; ++i) {
              const absl::StatusOr<Eigen::VectorXd> sum = ClippedSum(network, view, records, {i});
              ASSERT_TRUE(sum.ok()) << sum.status();
              ASSERT_TRUE(sum->allFinite()) << i;
              EXPECT_LE(sum->norm(), 1) << i << " " << views << " " << rank << " " << clip;
            }
          }
        }
      }
    }
  }
}

// With weights of zero the views x and -x have opposite gradients, but for the bias, which is left
// out here: what is left of the mean is small, or rounding alone, and is not blown up.
TEST(Views, OppositeGradientsDoNotGrowByRounding) {
  const Network<float> network = LinearWithZeroWeights(36);
  const LabeledColumns records = BlobsWithViews(36, 2);
  for (const double clip : {1e-14, 1e-7, 1e-3, 1.0}) {
    StepView view = ViewOf(network, 0, clip);
    view.layers[0].column_scales = Vector<float>::Ones(37);
    view.layers[0].column_scales.tail(1).setZero();
    for (int i = 0; i < 12; ++i) {
      const Eigen::VectorXd sum = *ClippedSum(network, view, records, {i});
      EXPECT_LE(sum.norm(), 1) << i << " " << clip;
    }
  }
}

// The inputs 9/8 and -b have gradients 9/8 d and -b d. b is nearly one unit of the grid above 1/2,
// so rounding toward zero makes the mean of both longer, by more than all other margins.
TEST(Views, TheNormIsThatOfTheRoundedInputs) {
  const Network<float> network =
      *Network<float>::Create({.channels = 1}, {network::FullyConnected{2}});
  LabeledColumns records{network::Matrix<float>::Constant(1, 1, 1.125F), {0}};
  records.more_views = {network::Matrix<float>::Constant(1, 1, -(0.5F + 0.99F * 0x1p-16F))};
  StepView view = ViewOf(network, 0, 1e-3);
  view.layers[0].column_scales = Vector<float>::Ones(2);
  view.layers[0].column_scales.tail(1).setZero();
  const double norm = ClippedSum(network, view, records, {0})->norm();
  EXPECT_LE(norm, 1);
  EXPECT_GE(norm, 1 - 1e-4);
}

TEST(Views, AClippedRecordUsesNearlyAllOfItsShare) {
  const Network<float> network = SmallMlp(36, 16, 3);
  const LabeledColumns records = BlobsWithViews(36, 2);
  StepView view = ViewOf(network, 5, 1e-6);
  for (const ClipGeometry geometry : {ClipGeometry::kSeparate, ClipGeometry::kJoint}) {
    view.geometry = geometry;
    for (int i = 26; i < 40; ++i) {
      EXPECT_GE(ClippedSum(network, view, records, {i})->norm(), 1 - 4e-3) << i;
    }
  }
}

TEST(Views, WithoutClippingTheReconstructionIsTheMeanGradient) {
  LabeledColumns records = Blobs(60, 36, 3, 5);
  records.more_views = {Blobs(60, 36, 3, 6).inputs, Blobs(60, 36, 3, 7).inputs};
  for (const bool convolution : {false, true}) {
    const Network<float> network = convolution ? SmallConvolution() : SmallMlp(36, 16, 3);
    const Vector<float> plain = PlainMeanGradient(network, records);
    for (const Eigen::Index rank : {0, 5}) {
      StepView view = ViewOf(network, rank, 100);
      for (const ClipGeometry geometry : {ClipGeometry::kSeparate, ClipGeometry::kJoint}) {
        view.geometry = geometry;
        const Vector<float> got =
            Reconstruct(network, view, *ClippedSum(network, view, records, All(records)));
        EXPECT_LE((got - plain).norm(), 3e-3F * plain.norm()) << rank;
      }
    }
  }
}

TEST(Views, TheMeanIsFormedBeforeClipping) {
  // Two views with gradients of norms 3 and 1 in one direction have a mean of norm 2: with a clip
  // norm of 2.5 nothing is clipped. Clipped one by one, the mean would be 1.75.
  const Network<float> network = LinearWithZeroWeights(1);
  LabeledColumns records{network::Matrix<float>::Constant(1, 1, 3), {0}};
  records.more_views = {network::Matrix<float>::Constant(1, 1, 1)};
  // delta is (-2/3, 1/3, 1/3) at weights of zero.
  const double unit = std::sqrt(2.0 / 3);
  StepView view = ViewOf(network, 0, 1);
  view.residual_clip = 2.5 * unit;
  view.layers[0].column_scales = Vector<float>::Ones(2);
  view.layers[0].column_scales.tail(1).setZero();
  EXPECT_NEAR(ClippedSum(network, view, records, {0})->norm(), 2 / 2.5, 1e-3);
  view.residual_clip = unit;
  EXPECT_NEAR(ClippedSum(network, view, records, {0})->norm(), 1, 1e-3);
}

TEST(Views, OneRecordMoreChangesTheSumByItsContributionExactly) {
  for (const int views : {2, 3}) {
    const LabeledColumns records = BlobsWithViews(36, views);
    for (const bool convolution : {false, true}) {
      const Network<float> network = convolution ? SmallConvolution() : SmallMlp(36, 16, 3);
      const StepView view = ViewOf(network, 5, 0.1);
      const std::vector<int> all = All(records);
      const Eigen::VectorXd with = *ClippedSum(network, view, records, all);
      for (const int left_out : {0, 7, 13, 21, 22, 39}) {
        std::vector<int> others;
        for (const int i : all) {
          if (i != left_out) others.push_back(i);
        }
        const Eigen::VectorXd without = *ClippedSum(network, view, records, others);
        EXPECT_EQ(with - without, *ClippedSum(network, view, records, {left_out})) << left_out;
      }
    }
  }
}

TEST(Views, TheSumDoesNotDependOnOrderOrThreads) {
  const Network<float> network = SmallMlp(20, 12, 3);
  const StepView view = ViewOf(network, 4, 0.3);
  LabeledColumns records = Blobs(1000, 20, 3, 4);
  records.more_views = {Blobs(1000, 20, 3, 5).inputs, Blobs(1000, 20, 3, 6).inputs};
  std::vector<int> batch = All(records);
  const Eigen::VectorXd sum = *ClippedSum(network, view, records, batch);
  EXPECT_EQ(*ClippedSum(network, view, records, batch, 3), sum);
  std::reverse(batch.begin(), batch.end());
  EXPECT_EQ(*ClippedSum(network, view, records, batch, 2), sum);
}

TEST(Views, ARecordWithAViewThatIsNotFiniteIsLeftOut) {
  const Network<float> network = SmallMlp(36, 16, 3);
  const LabeledColumns records = BlobsWithViews(36, 2);
  StepView view = ViewOf(network, 0, 1);
  view.shares = *SplitNoise({.indicator_count = 1, .indicator_noise = 5}, 1);
  for (const int i : {22, 23}) {
    const Eigen::VectorXd sum = *ClippedSum(network, view, records, {i});
    EXPECT_EQ(sum.head(sum.size() - 1).norm(), 0);
    EXPECT_EQ(sum.tail(1).value(), -view.shares.indicator);
  }
}

TEST(Views, OfOtherShapesOrTooManyAreRefused) {
  const Network<float> network = SmallMlp(20, 12, 3);
  const StepView view = ViewOf(network, 0, 1);
  LabeledColumns records = Blobs(3, 20, 3, 5);
  records.more_views = {Blobs(2, 20, 3, 5).inputs};
  EXPECT_THAT(std::string(ClippedSum(network, view, records, {0}).status().message()),
              testing::HasSubstr("records.more_views: got 20 x 2, want 20 x 3"));
  records.more_views.assign(16, records.inputs);
  EXPECT_THAT(std::string(ClippedSum(network, view, records, {0}).status().message()),
              testing::HasSubstr("records.more_views: got 16, want fewer than 16"));
}

TEST(MaxRecords, AreFewerWithViewsSoThatSumsStayExact) {
  EXPECT_EQ(MaxRecords(1), kMaxRecords);
  for (const int64_t views : {2, 3, 8, 16}) {
    // Every entry of every view at its largest, in units of the grid.
    EXPECT_LE(static_cast<double>(MaxRecords(views)) * static_cast<double>(views) *
                  kLargestOfAView * std::ldexp(1.0, kGridBits),
              std::ldexp(1.0, 53));
  }
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
