// The whole front end on the real MNIST: a classifier without any privacy on its features.
#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "client/trainers/data/data_source.h"
#include "client/trainers/data/image_sets.h"
#include "client/trainers/scattering/scattering.h"

namespace epsledger::trainers::scattering {
namespace {

// Softmax regression by gradient descent with momentum; returns the accuracy on the second set.
double SoftmaxAccuracy(const Eigen::MatrixXf& train, const std::vector<int>& labels,
                       const Eigen::MatrixXf& test, const std::vector<int>& test_labels) {
  constexpr int kClasses = 10;
  constexpr int kBatch = 512;
  constexpr float kRate = 60;
  constexpr int kEpochs = 8;
  Eigen::MatrixXf weights = Eigen::MatrixXf::Zero(kClasses, train.rows());
  Eigen::MatrixXf velocity = weights;
  std::vector<int> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator(1);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), generator);
    for (size_t first = 0; first + kBatch <= order.size(); first += kBatch) {
      const std::vector<int> chosen(order.begin() + static_cast<ptrdiff_t>(first),
                                    order.begin() + static_cast<ptrdiff_t>(first + kBatch));
      const Eigen::MatrixXf batch = train(Eigen::all, chosen);
      Eigen::MatrixXf scores = weights * batch;
      for (int i = 0; i < kBatch; ++i) {
        auto column = scores.col(i).array();
        column = (column - column.maxCoeff()).exp();
        column /= column.sum();
        scores(labels[static_cast<size_t>(chosen[static_cast<size_t>(i)])], i) -= 1;
      }
      velocity = 0.9F * velocity - (kRate / kBatch) * (scores * batch.transpose());
      weights += velocity;
    }
  }
  const Eigen::MatrixXf scores = weights * test;
  int right = 0;
  for (Eigen::Index i = 0; i < scores.cols(); ++i) {
    Eigen::Index best = 0;
    scores.col(i).maxCoeff(&best);
    right += best == test_labels[static_cast<size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(test_labels.size());
}

TEST(MnistFeatures, AreSeparatedByALinearClassifier) {
  const absl::StatusOr<LocatedImages> mnist =
      FindImages("mnist", DataPlaces::FromEnvironment().data_directory);
  if (!mnist.ok()) GTEST_SKIP() << mnist.status();
  const Eigen::MatrixXf train = *Features(mnist->train, Options{});
  const Eigen::MatrixXf test = *Features(mnist->held_out.images, Options{});
  const double accuracy =
      SoftmaxAccuracy(train, mnist->train.labels, test, mnist->held_out.images.labels);
  RecordProperty("accuracy", std::to_string(accuracy));
  EXPECT_GE(accuracy, 0.988);
}

}  // namespace
}  // namespace epsledger::trainers::scattering
