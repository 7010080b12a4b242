#include <cmath>
#include <vector>

#include "accounting/classical/basic_and_advanced.h"
#include "accounting/zcdp/zcdp.h"
#include "gtest/gtest.h"
#include "tests/accounting/classical/heterogeneous_rows.h"

// What the table of compositions has besides the optimal ones, computed with mpmath at more than 50
// digits.

namespace epsledger::accounting {
namespace {

TEST(BasicComposition, AgreesWithTheTableForDifferentParameters) {
  for (const auto& row : kBasicHeterogeneousRows) {
    std::vector<CountedParameters> events;
    for (size_t i = 0; i < row.epsilons.size(); ++i) {
      events.push_back({{row.epsilons[i], row.deltas[i]}, 1});
    }
    const double epsilon = BasicComposition(events).epsilon;
    EXPECT_GE(epsilon, row.value);
    EXPECT_LE(epsilon, row.value * (1 + 1e-14));
  }
}

TEST(BasicComposition, AgreesWithTheTableForEqualParameters) {
  // k epsilon and k delta.
  struct EqualRow {
    double epsilon, delta, count, total_epsilon, total_delta;
  };
  for (const EqualRow& row :
       {EqualRow{0.001, 1e-8, 2, 0.002, 2e-8}, EqualRow{0.5, 0, 5, 2.5, 0},
        EqualRow{0.1, 1e-8, 50, 5, 5e-7}, EqualRow{2, 1e-8, 1000, 2000, 1e-5}}) {
    const auto total = BasicComposition({{{row.epsilon, row.delta}, row.count}});
    EXPECT_GE(total.epsilon, row.total_epsilon);
    EXPECT_LE(total.epsilon, row.total_epsilon * (1 + 1e-14));
    EXPECT_GE(total.delta, row.total_delta);
    EXPECT_LE(total.delta, row.total_delta * (1 + 1e-14));
  }
}

struct ZcdpDeltaRow {
  double rho;
  double epsilon;
  double log_delta;
};

constexpr ZcdpDeltaRow kZcdpDeltaRows[] = {
    {1e-06, 0.1, -2511.7698785144007},    {0.1, 0.1, -1.509583309776132},
    {0.1, 1.0, -4.717975481843596},       {0.1, 4.0, -42.026804075188146},
    {0.5, 1.0, -1.398989278544333},       {1.0, 0.1, -0.342388823552245},
    {1.0, 1.0, -0.7062451228565394},      {1.0, 4.0, -3.9905966547264855},
    {2.0, 1.0, -0.2606776040078283},      {5.0, 0.1, -0.007212363519061399},
    {5.0, 1.0, -0.017010547670109347},    {5.0, 4.0, -0.1893921845492145},
    {20.0, 0.1, -2.2779269400208204e-09}, {20.0, 1.0, -5.602795825406507e-09},
    {20.0, 4.0, -1.125349277691145e-07},
};

TEST(LogDeltaFromZcdp, AgreesWithEveryRowOfTheTable) {
  for (const auto& row : kZcdpDeltaRows) {
    const double log_delta = LogDeltaFromZcdp({.rho = row.rho}, row.epsilon).value;
    EXPECT_GE(log_delta, row.log_delta - 1e-14 * std::abs(row.log_delta))
        << row.rho << " " << row.epsilon;
    EXPECT_LE(log_delta, row.log_delta + 1e-6 * std::abs(row.log_delta) + 2e-7)
        << row.rho << " " << row.epsilon;
  }
}

struct ZcdpLooseRow {
  double rho;
  double delta;
  double epsilon;
};

// rho + 2 sqrt(rho log(1/delta)), [BS16] Prop 1.3.
constexpr ZcdpLooseRow kZcdpLooseRows[] = {
    {1e-06, 0.001, 0.005257521769756932}, {1e-06, 1e-09, 0.009105562776310878},
    {0.0001, 0.001, 0.05266521769756932}, {0.0001, 1e-09, 0.09114562776310878},
    {0.0001, 1e-12, 0.10523043539513864}, {0.01, 1e-06, 0.7533844377699677},
    {0.01, 1e-12, 1.0613043539513864},    {0.1, 0.001, 1.7622581362691099},
    {0.1, 1e-09, 2.979115547312849},      {0.1, 1e-12, 3.42451627253822},
    {0.5, 0.001, 4.216922188849838},      {0.5, 1e-05, 5.298525912188081},
    {0.5, 1e-09, 6.9378980788680416},     {0.5, 1e-12, 7.9338443776996765},
    {1.0, 0.001, 6.256521769756932},      {1.0, 1e-05, 7.786140424415112},
    {1.0, 1e-12, 11.513043539513864},     {2.0, 0.001, 9.433844377699677},
    {2.0, 1e-06, 12.513043539513864},     {2.0, 1e-12, 16.867688755399353},
    {5.0, 0.001, 16.753940002384},        {5.0, 1e-05, 20.174271293851465},
    {5.0, 1e-06, 21.6225813626911},       {5.0, 1e-09, 25.358421273245334},
    {5.0, 1e-12, 28.507880004767998},     {20.0, 1e-05, 50.34854258770293},
    {20.0, 1e-06, 53.2451627253822},      {20.0, 1e-09, 60.71684254649067},
};

TEST(EpsilonFromZcdp, IsBetterThanTheClosedFormOfTheTable) {
  for (const auto& row : kZcdpLooseRows) {
    EXPECT_LT(EpsilonFromZcdp({.rho = row.rho}, std::log(row.delta)).value, row.epsilon)
        << row.rho << " " << row.delta;
  }
}

double Rho(const MechanismEvent& event, double count) {
  return ComposeZcdp({Use{&event, count}}, {})->rho;
}

void ExpectRho(double rho, double truth) {
  EXPECT_GE(rho, truth);
  EXPECT_LE(rho, truth * (1 + 1e-14));
}

TEST(ComposeZcdp, AgreesWithTheTable) {
  ExpectRho(Rho(Zcdp{.rho = 0.5}, 4), 2.0);
  ExpectRho(Rho(Zcdp{.rho = 0.4132231404958677}, 5), 2.0661157024793386);
  ExpectRho(Rho(Gaussian{0.5}, 1), 2.0);
  ExpectRho(Rho(Gaussian{1.0}, 1), 0.5);
  ExpectRho(Rho(Gaussian{5.0}, 1), 0.02);
  ExpectRho(Rho(PureDp{0.1}, 1), 0.005000000000000001);
  ExpectRho(Rho(PureDp{0.5}, 1), 0.125);
  ExpectRho(Rho(PureDp{2.0}, 1), 2.0);
  const MechanismEvent first = Zcdp{.rho = 0.1};
  const MechanismEvent second = Zcdp{.rho = 0.2};
  const MechanismEvent third = Zcdp{.rho = 0.3};
  ExpectRho(ComposeZcdp({Use{&first, 1}, Use{&second, 1}, Use{&third, 1}}, {})->rho, 0.6);
}

TEST(ZcdpOf, AllowsForPureDpWhatTheTightValueOfTheTableNeeds) {
  // sup D_a / a of randomized response of 0.1 is its KL divergence, 0.1 tanh(0.05).
  EXPECT_GE(Rho(PureDp{0.1}, 1), 4.995837495787997774e-3);
}

}  // namespace
}  // namespace epsledger::accounting
