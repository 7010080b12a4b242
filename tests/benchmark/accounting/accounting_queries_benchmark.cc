// Queries per second of the accountants, one thread, cold each time: nothing is kept between
// queries.

#include <benchmark/benchmark.h>

#include "accounting/answer.h"
#include "accounting/filter/filter.h"

namespace epsledger::accounting {
namespace {

Question DpSgd(Accountant accountant, double sampling_probability, double noise_multiplier,
               int64_t count) {
  Question question;
  question.accountant = accountant;
  const MechanismEvent gaussian = Gaussian{noise_multiplier};
  question.events = {{sampling_probability < 1
                          ? MechanismEvent(PoissonSampled{sampling_probability, gaussian})
                          : gaussian,
                      count}};
  question.query = EpsilonAtDelta::FromDelta(1e-5);
  return question;
}

void Ask(benchmark::State& state, const Question& question) {
  for (auto _ : state) {
    const absl::StatusOr<Guarantee> guarantee = Answer(question);
    if (!guarantee.ok()) {
      state.SkipWithError(std::string(guarantee.status().message()).c_str());
      break;
    }
    benchmark::DoNotOptimize(guarantee->upper);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(Ask, epsilon_gaussian_full_batch, DpSgd(Accountant::kGaussian, 1, 37.3, 100));
BENCHMARK_CAPTURE(Ask, epsilon_renyi_full_batch, DpSgd(Accountant::kRenyi, 1, 37.3, 100));
BENCHMARK_CAPTURE(Ask, epsilon_zcdp_full_batch, DpSgd(Accountant::kZcdp, 1, 37.3, 100));
BENCHMARK_CAPTURE(Ask, epsilon_renyi_dpsgd, DpSgd(Accountant::kRenyi, 0.01, 1, 10'000));
BENCHMARK_CAPTURE(Ask, epsilon_best_dpsgd, DpSgd(Accountant::kBest, 0.01, 1, 10'000));

// What the ledger computes once for each new event of a session, per cell of a filter.
void PriceOneEvent(benchmark::State& state) {
  const MechanismEvent event = PoissonSampled{0.01, MechanismEvent(Gaussian{1})};
  const absl::StatusOr<Filter> filter =
      MakeApproximateDpFilter(1, 1e-5, ApproximateDpFilter::kRenyiOrders, 0, "cap");
  for (auto _ : state) {
    for (const FilterCell& cell : filter->cells) {
      benchmark::DoNotOptimize(CostUpperBound(event, NeighboringRelation::kAddOrRemoveOne, cell));
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PriceOneEvent);

}  // namespace
}  // namespace epsledger::accounting
