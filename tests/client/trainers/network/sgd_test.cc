#include "client/trainers/network/sgd.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace epsledger::trainers::network {
namespace {

// With a constant gradient g the velocity after t steps is g (1 - m^t) / (1 - m), and the parameter
// -rate times the sum of the velocities.
TEST(Sgd, FollowsTheClosedFormOfMomentum) {
  const double rate = 0.1;
  const double momentum = 0.9;
  const double gradient = 3;
  Sgd<double> sgd = *Sgd<double>::Create({.learning_rate = rate, .momentum = momentum}, 1);
  Vector<double> parameters = Vector<double>::Zero(1);
  for (int t = 1; t <= 50; ++t) {
    sgd.Step(Vector<double>::Constant(1, gradient), &parameters);
    const double power = std::pow(momentum, t);
    const double velocity = gradient * (1 - power) / (1 - momentum);
    const double sum = gradient / (1 - momentum) * (t - momentum * (1 - power) / (1 - momentum));
    EXPECT_NEAR(sgd.velocity()[0], velocity, 1e-12);
    EXPECT_NEAR(parameters[0], -rate * sum, 1e-12);
  }
}

TEST(Sgd, GoesOnFromAVelocityAsIfItHadNeverStopped) {
  const SgdOptions options{.learning_rate = 0.25, .momentum = 0.5};
  Sgd<float> first = *Sgd<float>::Create(options, 2);
  Vector<float> parameters = Vector<float>::Ones(2);
  first.Step((Vector<float>(2) << 1, -2).finished(), &parameters);
  Sgd<float> second = *Sgd<float>::Create(options, 2);
  ASSERT_TRUE(second.SetVelocity(first.velocity()).ok());
  Vector<float> resumed = parameters;
  const Vector<float> gradient = (Vector<float>(2) << 0.3F, 4).finished();
  first.Step(gradient, &parameters);
  second.Step(gradient, &resumed);
  EXPECT_EQ(parameters, resumed);
}

TEST(Sgd, RefusesOptionsOutsideTheirDomains) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double rate : {0.0, -1.0, 1e13, nan}) {
    EXPECT_EQ(Sgd<float>::Create({.learning_rate = rate}, 1).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  for (const double momentum : {-0.1, 1.0, nan}) {
    EXPECT_EQ(Sgd<float>::Create({.learning_rate = 1, .momentum = momentum}, 1).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(Sgd<float>::Create({.learning_rate = 1, .momentum = 1}, 1).status().message(),
            "momentum: got 1, want a number in [0, 1)");
  EXPECT_EQ(Sgd<float>::Create({.learning_rate = 1}, 1)->SetVelocity(Vector<float>()).message(),
            "velocity: got 0 entries, want 1");
}

}  // namespace
}  // namespace epsledger::trainers::network
