#include "client/trainers/fsdp_published/layered_training.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "client/trainers/fsdp_published/printed_accounting.h"

namespace epsledger::trainers::fsdp_published {
namespace {

constexpr int kImages = 40;

LabeledImages ImagesOfTwoPixels() {
  LabeledImages images{.channels = 1, .height = 1, .width = 2, .pixels = {}, .labels = {}};
  images.pixels = Eigen::MatrixXf::Zero(2, kImages);
  return images;
}

// Two classes of one bright pixel each.
LabeledImages OneBrightPixel() {
  LabeledImages images = ImagesOfTwoPixels();
  for (int i = 0; i < kImages; ++i) {
    images.pixels(i % 2, i) = 0.5F + 0.01F * static_cast<float>(i);
    images.labels.push_back(i % 2);
  }
  return images;
}

// Class 1 has one bright pixel, class 0 none or two: no softmax layer has all of them right.
LabeledImages ExclusiveOr() {
  LabeledImages images = ImagesOfTwoPixels();
  for (int i = 0; i < kImages; ++i) {
    const int first = i % 2;
    const int second = i / 2 % 2;
    images.pixels.col(i) = Eigen::Vector2f(static_cast<float>(first), static_cast<float>(second));
    images.labels.push_back(first ^ second);
  }
  return images;
}

absl::StatusOr<std::vector<int>> AllImages() {
  std::vector<int> batch;
  for (int i = 0; i < kImages; ++i) batch.push_back(i);
  return batch;
}

double Silent() { return 0; }
void Ignore(const StepReport&) {}

TrainingOptions ExactOptions(int64_t steps) {
  TrainingOptions options;
  options.release.factorization = {.method = FactorizationMethod::kExact, .rank = 1};
  options.steps = steps;
  return options;
}

TEST(TrainAsPublished, LearnsWithoutItsNoiseAndNothingWithIt) {
  const LabeledImages images = OneBrightPixel();
  const TrainingOptions options = ExactOptions(30);
  const auto learned = TrainAsPublished(images, 2, options, AllImages, Silent, Ignore);
  ASSERT_TRUE(learned.ok()) << learned.status();
  EXPECT_EQ(learned->steps, 30);
  EXPECT_FALSE(learned->exceeded_limit);
  EXPECT_EQ(Accuracy(learned->network, {images}), 1);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  double ratio = 0;
  const auto drowned = TrainAsPublished(
      images, 2, options, AllImages, [&] { return normal(random); },
      [&ratio](const StepReport& report) {
        // Later the noise has saturated the layer: all gradients are 0, and so is the noise (B2).
        const PublishedRelease& release = report.releases.front();
        if (report.step == 1) ratio = release.noisy_norm / release.signal_norm;
      });
  ASSERT_TRUE(drowned.ok()) << drowned.status();
  EXPECT_GT(ratio, 10);
  EXPECT_GT(WeightsOf(drowned->network, 0).norm(), 100);
}

TEST(TrainAsPublished, LearnsInHiddenLayersWhatOneLayerCannot) {
  const LabeledImages images = ExclusiveOr();
  TrainingOptions options = ExactOptions(600);
  options.learning_rate = 2;
  const auto flat = TrainAsPublished(images, 2, options, AllImages, Silent, Ignore);
  ASSERT_TRUE(flat.ok()) << flat.status();
  EXPECT_LT(Accuracy(flat->network, {images}), 1);
  options.hidden_layers = *network::ParseLayers("fully_connected(8) tanh fully_connected(4) tanh");
  size_t layers = 0;
  const auto deep =
      TrainAsPublished(images, 2, options, AllImages, Silent,
                       [&layers](const StepReport& report) { layers = report.releases.size(); });
  ASSERT_TRUE(deep.ok()) << deep.status();
  EXPECT_EQ(layers, 3U);
  EXPECT_EQ(Accuracy(deep->network, {images}), 1);
}

TEST(TrainAsPublished, EveryLayerIsReleasedByTable2) {
  const LabeledImages images = OneBrightPixel();
  TrainingOptions options = ExactOptions(1);
  options.hidden_layers = *network::ParseLayers("fully_connected(3) relu");
  options.seed = 4;
  Network before =
      *Network::Create({.channels = 2}, {network::FullyConnected{.outputs = 3}, network::Relu{},
                                         network::FullyConnected{.outputs = 2}});
  before.Initialize(4);
  const auto gradients = *LayerGradients(before, images.pixels.cast<double>(), images.labels, 2);
  const auto run = TrainAsPublished(images, 2, options, AllImages, Silent, Ignore);
  ASSERT_TRUE(run.ok()) << run.status();
  const std::vector<Eigen::Index> layers = FullyConnectedLayers(before);
  for (size_t i = 0; i < layers.size(); ++i) {
    const PublishedRelease release = *ReleaseBatch(gradients[i], options.release, Silent);
    const Eigen::MatrixXd moved = WeightsOf(run->network, layers[i]) - WeightsOf(before, layers[i]);
    EXPECT_LT((moved + options.learning_rate * release.gradient).norm(), 1e-12);
  }
}

// Step (14), and erratum 17: the step that exceeds the limit has been released.
TEST(TrainAsPublished, StopsAfterTheStepThatExceedsTheLimit) {
  TrainingOptions options = ExactOptions(50);
  options.sampling_probability = 0.2;
  options.hidden_layers = *network::ParseLayers("fully_connected(3) tanh");
  // Rows of the layers: 2 pixels and 3 units, each with a bias.
  const PrintedAccountant accountant({}, 0.2, {3, 4});
  const double limit = (accountant.Epsilon(7) + accountant.Epsilon(8)) / 2;
  options.printed_epsilon_limit = limit;
  int64_t shown = 0;
  const auto run = TrainAsPublished(OneBrightPixel(), 2, options, AllImages, Silent,
                                    [&shown](const StepReport& report) { shown = report.step; });
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->steps, 8);
  EXPECT_EQ(shown, 8);
  EXPECT_TRUE(run->exceeded_limit);
  EXPECT_GT(run->printed_epsilon, limit);
  EXPECT_EQ(run->printed_epsilon, accountant.Epsilon(8));
  EXPECT_EQ(run->printed_epsilon_of_whole_releases, accountant.EpsilonOfWholeReleases(8));
}

// With ReLU nothing bounds the gradients: the noise is scaled by them, and grows with every step.
TEST(TrainAsPublished, EndsWhereTheNoiseOutgrowsTheNumbers) {
  TrainingOptions options = ExactOptions(50);
  options.hidden_layers = *network::ParseLayers("fully_connected(8) relu fully_connected(8) relu");
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  const auto run = TrainAsPublished(
      OneBrightPixel(), 2, options, AllImages, [&] { return normal(random); }, Ignore);
  ASSERT_TRUE(run.ok()) << run.status();
  // Either this, or every unit is dead and all gradients are 0 (B2).
  EXPECT_TRUE(run->diverged || run->steps == 50);
  options.learning_rate = 1e300;
  const auto far = TrainAsPublished(
      OneBrightPixel(), 2, options, AllImages, [] { return 1.0; }, Ignore);
  ASSERT_TRUE(far.ok()) << far.status();
  EXPECT_TRUE(far->diverged);
  EXPECT_LT(far->steps, 50);
}

TEST(TrainAsPublished, RefusesLayersWithoutItsRelevance) {
  TrainingOptions options = ExactOptions(1);
  options.hidden_layers = *network::ParseLayers("group_norm(1)");
  EXPECT_EQ(
      TrainAsPublished(OneBrightPixel(), 2, options, AllImages, Silent, Ignore).status().code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
