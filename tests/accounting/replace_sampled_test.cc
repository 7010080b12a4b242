// A sampled Gaussian under replace-one, composed: held against the pair of two records of opposite
// contributions, whose loss is inverted from its Laplace transform here.

#include <cmath>
#include <complex>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

using Complex = std::complex<double>;

// E_P[e^{z L}].
Complex Transform(Complex z, double q, double mu) {
  constexpr double kStep = 0.02;
  Complex sum = 0;
  for (double t = -9 - mu; t <= 9 + mu; t += kStep) {
    const double p = 1 - q + q * std::exp(mu * t - mu * mu / 2);
    const double other = 1 - q + q * std::exp(-mu * t - mu * mu / 2);
    sum += std::exp(z * std::log(p / other)) * (p * std::exp(-t * t / 2));
  }
  return sum * kStep / std::sqrt(2 * M_PI);
}

// E_P[(1 - e^{epsilon - L})_+] of `count` uses; the transform of (1 - e^{-y})_+ is 1 / (z (z + 1)).
double Delta(double epsilon, double q, double mu, double count, double damping, double width) {
  const double step = width / 160;
  double sum = 0;
  for (int i = 0; i <= 160; ++i) {
    const Complex z(damping, i * step);
    const Complex term =
        std::pow(Transform(z, q, mu), count) * std::exp(-z * epsilon) / (z * (z + 1.0));
    sum += (i == 0 ? 0.5 : 1) * term.real();
  }
  return sum * step / M_PI;
}

Question Ask(Accountant accountant, double q, double noise, int64_t count, double delta) {
  Question question =
      AskEpsilon(accountant, PoissonSampled{q, MechanismEvent(Gaussian{noise})}, count, delta);
  question.relation = NeighboringRelation::kReplaceOne;
  return question;
}

TEST(ReplaceSampled, IsTheTruthFromBothSides) {
  const struct {
    double q, noise;
    int64_t count;
    double damping, width;
  } rows[] = {{0.01, 1, 1000, 6, 40}, {0.1, 4, 200, 8, 60}, {0.3, 2, 10, 3, 40}};
  for (const auto& row : rows) {
    const auto answer = Answer(Ask(Accountant::kPld, row.q, row.noise, row.count, 1e-5));
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->lower.has_value());
    const double lower = *answer->lower;
    const double upper = *answer->upper;
    EXPECT_LE(upper - lower, 1.1e-3 * upper) << row.q;
    const auto count = static_cast<double>(row.count);
    EXPECT_LE(Delta(upper, row.q, 1 / row.noise, count, row.damping, row.width), 1e-5 * 1.0001);
    EXPECT_GE(Delta(lower, row.q, 1 / row.noise, count, row.damping, row.width), 1e-5 * 0.9999);
  }
}

// 23.82 and 74.9 before the pair was known.
TEST(ReplaceSampled, IsPricedByItsPair) {
  const auto loss = Answer(Ask(Accountant::kPld, 0.01, 1, 1000, 1e-5));
  const auto renyi = Answer(Ask(Accountant::kRenyi, 0.01, 1, 1000, 1e-5));
  ASSERT_TRUE(loss.ok() && renyi.ok());
  EXPECT_LT(*loss->upper, 2.85);
  EXPECT_LT(*renyi->upper, 3.3);
  EXPECT_GT(*renyi->upper, *loss->lower);
}

}  // namespace
}  // namespace epsledger::accounting
