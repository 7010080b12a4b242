// Gradients, norms and weighted sums of every layer, against finite differences and single samples.
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <utility>

#include "client/trainers/network/clipping.h"
#include "client/trainers/network/network.h"
#include "tests/client/trainers/network/sample_networks.h"

namespace epsledger::trainers::network {
namespace {

constexpr Eigen::Index kSamples = 3;

// sum_i weights_i <coefficients_i, output_i>: its gradient is the weighted sum of the samples'.
double WeightedLoss(const Network<double>& net, const Matrix<double>& batch,
                    const Matrix<double>& coefficients, const Vector<double>& weights) {
  const Tape<double> tape = *net.Forward(batch);
  const Matrix<double> products = tape.activations.back().cwiseProduct(coefficients);
  return products.colwise().sum().dot(weights.transpose());
}

template <class T>
struct Scene {
  Network<T> net;
  Matrix<T> batch;
  Matrix<T> coefficients;
  Vector<T> weights;
};

template <class T>
Scene<T> MakeScene(const NetworkShape& shape) {
  Network<T> net = MakeNetwork<T>(shape);
  const Eigen::Index outputs = net.shape(net.layer_count()).size();
  return {.net = std::move(net),
          .batch = RandomMatrix<T>(shape.input.size(), kSamples, 3),
          .coefficients = RandomMatrix<T>(outputs, kSamples, 4),
          .weights = RandomMatrix<T>(kSamples, 1, 5)};
}

// The gradient of sample i as a batch of one, which the fully connected layer then forms in full.
template <class T>
Vector<T> SingleGradient(const Scene<T>& scene, Eigen::Index i) {
  const Tape<T> tape = RunTape<T>(scene.net, scene.batch.col(i), scene.coefficients.col(i));
  return *scene.net.WeightedGradient(tape, Vector<T>::Ones(1));
}

constexpr double kStep = 1e-5;
constexpr double kTolerance = 2e-8;

TEST(WeightedGradient, EqualsCentralDifferencesInEveryParameter) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    Scene<double> scene = MakeScene<double>(shape);
    const Tape<double> tape = RunTape(scene.net, scene.batch, scene.coefficients);
    const Vector<double> gradient = *scene.net.WeightedGradient(tape, scene.weights);
    ASSERT_EQ(gradient.size(), scene.net.parameter_count());
    for (Eigen::Index p = 0; p < gradient.size(); ++p) {
      const auto loss_at = [&](double parameter) {
        Scene<double> moved = MakeScene<double>(shape);
        moved.net.parameters()[p] = parameter;
        return WeightedLoss(moved.net, scene.batch, scene.coefficients, scene.weights);
      };
      const double at = scene.net.parameters()[p];
      const double slope = (loss_at(at + kStep) - loss_at(at - kStep)) / (2 * kStep);
      EXPECT_NEAR(gradient[p], slope, kTolerance * (1 + std::fabs(slope))) << "parameter " << p;
    }
  }
}

TEST(Backward, EqualsCentralDifferencesInEveryInput) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    const Scene<double> scene = MakeScene<double>(shape);
    const Tape<double> tape = RunTape(scene.net, scene.batch, scene.coefficients);
    const Matrix<double>& gradient = tape.gradients.front();
    ASSERT_EQ(gradient.rows(), scene.batch.rows());
    ASSERT_EQ(gradient.cols(), kSamples);
    for (Eigen::Index i = 0; i < kSamples; ++i) {
      for (Eigen::Index row = 0; row < gradient.rows(); ++row) {
        const auto loss_at = [&](double input) {
          Matrix<double> batch = scene.batch;
          batch(row, i) = input;
          return WeightedLoss(scene.net, batch, scene.coefficients, Vector<double>::Ones(kSamples));
        };
        const double at = scene.batch(row, i);
        const double slope = (loss_at(at + kStep) - loss_at(at - kStep)) / (2 * kStep);
        EXPECT_NEAR(gradient(row, i), slope, kTolerance * (1 + std::fabs(slope)))
            << "input " << row << " of sample " << i;
      }
    }
  }
}

TEST(Backward, LeavesTheBatchGradientOutUnlessAsked) {
  const Scene<float> scene = MakeScene<float>(SampleNetworks().back());
  Tape<float> tape = *scene.net.Forward(scene.batch);
  ASSERT_TRUE(scene.net.Backward(scene.coefficients, &tape).ok());
  EXPECT_EQ(tape.gradients.front().size(), 0);
  const Tape<float> full = RunTape(scene.net, scene.batch, scene.coefficients);
  for (Eigen::Index layer = 1; layer <= scene.net.layer_count(); ++layer) {
    EXPECT_EQ(tape.gradients[layer], full.gradients[layer]);
  }
}

TEST(Backward, RefusesGradientsOfAnotherShape) {
  const Scene<float> scene = MakeScene<float>({{.channels = 7}, {FullyConnected{3}}});
  Tape<float> tape = *scene.net.Forward(scene.batch);
  EXPECT_EQ(scene.net.Backward(Matrix<float>::Zero(3, 2), &tape).message(),
            "output_gradients: got 3 x 2, want 3 x 3");
  EXPECT_EQ(scene.net.Forward(Matrix<float>::Zero(6, 2)).status().message(),
            "batch: got 6 values a sample, want 7");
}

TEST(SquaredNorms, EqualThoseOfTheSinglesGradients) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    const Scene<double> scene = MakeScene<double>(shape);
    const Tape<double> tape = RunTape(scene.net, scene.batch, scene.coefficients);
    const Eigen::ArrayXd squared_norms = scene.net.SquaredNorms(tape);
    Eigen::ArrayXd by_layer = Eigen::ArrayXd::Zero(kSamples);
    for (Eigen::Index layer = 0; layer < scene.net.layer_count(); ++layer) {
      by_layer += scene.net.LayerSquaredNorms(tape, layer);
    }
    for (Eigen::Index i = 0; i < kSamples; ++i) {
      const double want = SingleGradient(scene, i).squaredNorm();
      EXPECT_NEAR(squared_norms[i], want, 1e-13 * want);
      EXPECT_NEAR(by_layer[i], want, 1e-13 * want);
    }
  }
}

TEST(SampleGradients, AreThoseOfTheSingles) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    const Scene<double> scene = MakeScene<double>(shape);
    const Tape<double> tape = RunTape(scene.net, scene.batch, scene.coefficients);
    for (Eigen::Index layer = 0; layer < scene.net.layer_count(); ++layer) {
      const Matrix<double> got = scene.net.SampleGradients(tape, layer);
      const auto segment = scene.net.segment(layer);
      ASSERT_EQ(got.rows(), segment.size);
      ASSERT_EQ(got.cols(), kSamples);
      for (Eigen::Index i = 0; i < kSamples; ++i) {
        const Vector<double> want = SingleGradient(scene, i).segment(segment.begin, segment.size);
        EXPECT_LE((got.col(i) - want).norm(), 1e-13 * (1 + want.norm()));
      }
    }
  }
}

TEST(WeightedGradient, IsTheWeightedSumOfTheSingles) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    const Scene<double> scene = MakeScene<double>(shape);
    const Tape<double> tape = RunTape(scene.net, scene.batch, scene.coefficients);
    Vector<double> want = Vector<double>::Zero(scene.net.parameter_count());
    for (Eigen::Index i = 0; i < kSamples; ++i) {
      want += scene.weights[i] * SingleGradient(scene, i);
    }
    const Vector<double> got = *scene.net.WeightedGradient(tape, scene.weights);
    EXPECT_LE((got - want).norm(), 1e-13 * (1 + want.norm()));
  }
}

TEST(WeightedGradient, OfOneClippedSampleHasNormAtMostTheClipNorm) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    const Scene<float> scene = MakeScene<float>(shape);
    const Tape<float> tape = RunTape(scene.net, scene.batch, scene.coefficients);
    const Eigen::ArrayXd squared_norms = scene.net.SquaredNorms(tape);
    for (const double clip_norm : {1e-3, 0.1, 1e6}) {
      const Vector<float> factors = *ClipFactors<float>(squared_norms, clip_norm);
      for (Eigen::Index i = 0; i < kSamples; ++i) {
        Vector<float> only = Vector<float>::Zero(kSamples);
        only[i] = factors[i];
        const double norm = scene.net.WeightedGradient(tape, only)->cast<double>().norm();
        EXPECT_LE(norm, clip_norm);
        EXPECT_GE(norm, std::fmin(clip_norm, std::sqrt(squared_norms[i])) * (1 - 3e-6));
      }
    }
  }
}

TEST(WeightedGradient, OfAnEmptyBatchIsZero) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    const Scene<float> scene = MakeScene<float>(shape);
    const Tape<float> tape =
        RunTape<float>(scene.net, scene.batch.leftCols(0), scene.coefficients.leftCols(0));
    EXPECT_EQ(scene.net.SquaredNorms(tape).size(), 0);
    const Vector<float> gradient = *scene.net.WeightedGradient(tape, Vector<float>());
    EXPECT_EQ(gradient.size(), scene.net.parameter_count());
    EXPECT_TRUE((gradient.array() == 0).all());
  }
}

// 0 * NaN is NaN: one bad record would take the whole sum with it.
TEST(WeightedGradient, OfASampleThatIsNotFiniteIsExactlyNothing) {
  for (const NetworkShape& shape : SampleNetworks()) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      SCOPED_TRACE(Describe(shape.input, shape.layers));
      Scene<float> scene = MakeScene<float>(shape);
      Vector<float> factors = Vector<float>::Ones(kSamples);
      factors[1] = 0;
      const Tape<float> good_tape = RunTape(scene.net, scene.batch, scene.coefficients);
      const Vector<float> without = *scene.net.WeightedGradient(good_tape, factors);
      scene.batch.col(1).setConstant(bad);
      scene.coefficients.col(1).setConstant(bad);
      const Tape<float> tape = RunTape(scene.net, scene.batch, scene.coefficients);
      const Eigen::ArrayXd squared_norms = scene.net.SquaredNorms(tape);
      EXPECT_EQ(*ClipFactors<float>(squared_norms, 1e6),
                scene.net.parameter_count() == 0 ? Vector<float>(Vector<float>::Ones(kSamples))
                                                 : factors);
      EXPECT_EQ(*scene.net.WeightedGradient(tape, factors), without);
    }
  }
}

TEST(WeightedGradient, RefusesWeightsThatAreNotOneFiniteNumberASample) {
  const Scene<float> scene = MakeScene<float>({{.channels = 7}, {FullyConnected{3}}});
  const Tape<float> tape = RunTape(scene.net, scene.batch, scene.coefficients);
  EXPECT_EQ(scene.net.WeightedGradient(tape, Vector<float>::Ones(2)).status().message(),
            "weights: got 2, want one for each of the 3 samples");
  Vector<float> weights = Vector<float>::Ones(3);
  weights[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(scene.net.WeightedGradient(tape, weights).status().message(),
            "weights: want finite numbers");
}

}  // namespace
}  // namespace epsledger::trainers::network
