// How many steps a cap admits, by its filter, beside what privacy loss distributions prove for the
// same sequence: the tables of accounting/filter/README.md.
//
//   residue_steps [--cells | --mixed] [--quick]
//
// Every charge goes through the ledger itself. --quick: the smallest cells alone, as a smoke test.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "accounting/answer.h"
#include "server/core/ledger.h"
#include "server/core/pricing.h"
#include "tests/server/core/compute_pricing.h"

namespace epsledger::core {
namespace {

using accounting::ApproximateDpFilter;
using accounting::CountedEvent;
using accounting::Gaussian;
using accounting::MechanismEvent;
using accounting::PoissonSampled;

constexpr double kDelta = 1e-5;

MechanismEvent Sampled(double probability, double noise) {
  return PoissonSampled{probability, MechanismEvent(Gaussian{noise})};
}

// A ledger of one budget and one session, and what it answers.
class Run {
 public:
  Run(double epsilon, ApproximateDpFilter filter, const MechanismEvent* reference) {
    CreateBudget create{.spec = {.id = "b",
                                 .cap = ApproximateDpCap{epsilon, kDelta, filter, 0},
                                 .privacy_unit = "person"}};
    if (reference != nullptr) create.reference = *reference;
    Execute(std::move(create));
    SessionSpec session{.budget_id = "b", .id = "s"};
    Execute(CreateSession{.spec = std::move(session)});
    Execute(OpenAttempt{.session = {"b", "s"}, .client_description = "", .provenance = {}});
  }

  bool Charge(const MechanismEvent& event, int64_t count) {
    const Outcome outcome =
        Execute(core::Charge{.session = {"b", "s"},
                             .attempt = 1,
                             .mode = BatchMode::kAllOrNothing,
                             .items = {{std::to_string(100'000'000 + ++charge_), event, count}},
                             .lease_expire_time_micros = {}});
    return std::get<ChargeOutcome>(outcome).records[0].row.decision == ChargeDecision::kAccepted;
  }

 private:
  template <class Body>
  Outcome Execute(Body body) {
    Command command{.body = std::move(body)};
    while (true) {
      absl::StatusOr<Outcome> outcome = ledger_.Execute(
          command, [](const ChargeKey&) { return std::optional<Entry>(); },
          [](const Entry&) { return absl::OkStatus(); });
      if (!outcome.ok()) {
        std::fprintf(stderr, "%s\n", outcome.status().ToString().c_str());
        std::exit(1);
      }
      const auto* wanted = std::get_if<PricesWanted>(&*outcome);
      if (wanted == nullptr) return *std::move(outcome);
      command.pricing = ComputePricing(*wanted, command.pricing.get());
    }
  }

  Ledger ledger_;
  int64_t charge_ = 0;
};

// One round of a workload; charged again and again until it is refused.
using Round = std::vector<CountedEvent>;

// Rounds until the first refusal, in uses.
int64_t Admitted(double epsilon, ApproximateDpFilter filter, const MechanismEvent* reference,
                 const Round& round) {
  Run run(epsilon, filter, reference);
  int64_t uses = 0;
  while (true) {
    for (const CountedEvent& item : round) {
      if (!run.Charge(*item.event, item.count)) return uses;
      uses += item.count;
    }
  }
}

// The most rounds that PLD proves, in uses, by bisection on its upper bound.
int64_t Proved(double epsilon, const Round& round) {
  const auto fits = [&](int64_t rounds) {
    accounting::Question question;
    question.accountant = accounting::Accountant::kPld;
    for (const CountedEvent& item : round) {
      question.events.push_back({item.event, item.count * rounds});
    }
    question.query = accounting::EpsilonAtDelta::FromDelta(kDelta);
    const absl::StatusOr<accounting::Guarantee> answer = accounting::Answer(question);
    return answer.ok() && *answer->upper <= epsilon;
  };
  int64_t good = 0;
  int64_t bad = 1;
  while (fits(bad)) {
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  int64_t uses = 0;
  for (const CountedEvent& item : round) uses += item.count;
  return good * uses;
}

std::string Share(int64_t admitted, int64_t proved) {
  char text[64];
  std::snprintf(text, sizeof text, "%ld (%.3f)", static_cast<long>(admitted),
                static_cast<double>(admitted) / static_cast<double>(proved));
  return text;
}

void Cells(bool quick) {
  const std::pair<double, double> settings[] = {{.01, 1.1}, {.01, .8}, {.004, 1.0},
                                                {.001, .7}, {.05, 2},  {.2, 4}};
  std::printf(
      "| q, noise | epsilon | PLD | RESIDUE | in blocks of 100 | PORTFOLIO | without a "
      "reference | RENYI_ORDERS |\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& [probability, noise] : settings) {
    for (const double epsilon : {1.0, 2.0, 3.0, 8.0}) {
      if (quick && (epsilon > 1 || probability < .05)) continue;
      const MechanismEvent event = Sampled(probability, noise);
      const Round one = {{event, 1}};
      const int64_t proved = Proved(epsilon, one);
      const auto admitted = [&](ApproximateDpFilter filter, bool reference, int64_t count) {
        return Share(Admitted(epsilon, filter, reference ? &event : nullptr, {{event, count}}),
                     proved);
      };
      std::printf("| %g, %g | %g | %ld | %s | %s | %s | %s | %s |\n", probability, noise, epsilon,
                  static_cast<long>(proved),
                  admitted(ApproximateDpFilter::kResidue, true, 1).c_str(),
                  admitted(ApproximateDpFilter::kResidue, true, 100).c_str(),
                  admitted(ApproximateDpFilter::kPortfolio, true, 1).c_str(),
                  admitted(ApproximateDpFilter::kPortfolio, false, 1).c_str(),
                  admitted(ApproximateDpFilter::kRenyiOrders, false, 1).c_str());
      std::fflush(stdout);
    }
  }
}

void Mixed() {
  const MechanismEvent usual = Sampled(.01, 1.1);
  const MechanismEvent twice = Sampled(.02, 1.1);
  const MechanismEvent half = Sampled(.005, 1.1);
  const MechanismEvent wide = Gaussian{50};
  struct Workload {
    const char* name;
    Round round;
  };
  const Workload workloads[] = {
      {"9 of the reference, 1 Gaussian 50", {{usual, 9}, {wide, 1}}},
      {"the reference and (.02, 1.1) in turn", {{usual, 1}, {twice, 1}}},
      {"blocks of 100 of (.005, 1.1)", {{half, 100}}},
      {"(.005, 1.1), one by one", {{half, 1}}},
      {"blocks of 100 of Gaussian 50", {{wide, 100}}},
      {"99 of the reference, 1 Laplace 20",
       {{usual, 99}, {MechanismEvent(accounting::Laplace{20}), 1}}},
      {"49 of the reference, 1 (.01, .8)", {{usual, 49}, {Sampled(.01, .8), 1}}},
  };
  std::printf(
      "| workload under (.01, 1.1), epsilon 3 | PLD | RESIDUE | PORTFOLIO | RENYI_ORDERS "
      "|\n|---|---|---|---|---|\n");
  for (const Workload& workload : workloads) {
    const int64_t proved = Proved(3, workload.round);
    const auto admitted = [&](ApproximateDpFilter filter, const MechanismEvent* reference) {
      return Share(Admitted(3, filter, reference, workload.round), proved);
    };
    std::printf("| %s | %ld | %s | %s | %s |\n", workload.name, static_cast<long>(proved),
                admitted(ApproximateDpFilter::kResidue, &usual).c_str(),
                admitted(ApproximateDpFilter::kPortfolio, &usual).c_str(),
                admitted(ApproximateDpFilter::kRenyiOrders, nullptr).c_str());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace epsledger::core

int main(int argc, char** argv) {
  bool cells = true;
  bool mixed = true;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--cells") == 0) mixed = false;
    if (std::strcmp(argv[i], "--mixed") == 0) cells = false;
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
  }
  if (cells) epsledger::core::Cells(quick);
  if (mixed && !quick) epsledger::core::Mixed();
  return 0;
}
