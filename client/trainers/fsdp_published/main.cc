// epsledger-fsdp-published: FSDP as published on a few small layers, for study. command_line.h has
// its options; README.md explains why it is not private.

#include <openssl/rand.h>

#include <cstdint>
#include <iostream>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/data_source.h"
#include "client/trainers/data/image_sets.h"
#include "client/trainers/fsdp_published/command_line.h"
#include "client/trainers/fsdp_published/layered_training.h"
#include "client/trainers/fsdp_published/unproven_run.h"
#include "client/trainers/run/poisson_sampler.h"
#include "client/trainers/run/privacy_label.h"
#include "client/trainers/run/session_report.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"

namespace epsledger::trainers::fsdp_published {
namespace {

enum ExitCode { kTrained = 0, kFailed = 1, kRefused = 3 };

int Fail(const absl::Status& status) {
  std::cerr << "epsledger-fsdp-published: " << LedgerStatusText(status) << "\n";
  return RefusalOf(status).has_value() ? kRefused : kFailed;
}

// Words of the operating system's cryptographic generator. `failed` stays set after a failure.
struct SecureWords {
  using result_type = uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    result_type word = 0;
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&word), sizeof(word)) != 1) failed = true;
    return word;
  }
  bool failed = false;
};

void Show(const StepReport& step, const HeldOutImages& held_out) {
  int layer = 0;
  for (const PublishedRelease& release : step.releases) {
    std::cout << absl::StrFormat(
        "step %3d  layer %d  %4d records used  S*_V %.1e  S*_Phi %.1e  C_V %.1e  C_Phi %.1e  norm "
        "with noise / without %.1e\n",
        step.step, ++layer, release.used, release.scales.embedding_sensitivity,
        release.scales.residual_sensitivity, release.thresholds.embedding,
        release.thresholds.residual,
        release.signal_norm > 0 ? release.noisy_norm / release.signal_norm : 0.0);
  }
  std::cout << absl::StrFormat("step %3d  held-out accuracy %.4f  printed epsilon %.4g, not proven",
                               step.step, Accuracy(step.network, held_out), step.printed_epsilon)
            << std::endl;
}

// What the paper would print of the run, in words that cannot be read as a guarantee.
std::string PrintedText(const PublishedRun& run, const PublishedBudget& claim) {
  return absl::StrFormat(
      "%sAfter %d steps%s the formulas of the paper, equations (11) to (17) and Theorem 1, print "
      "epsilon %.4g at delta %g, and %.4g without (13). NOT PROVEN, and no guarantee: attacks "
      "contradict what is claimed.\n",
      run.diverged ? "The noise made the parameters too large for another step. " : "", run.steps,
      run.exceeded_limit ? ", of which the last exceeds --stop-above (step (14) asks too late),"
                         : "",
      run.printed_epsilon, claim.delta, run.printed_epsilon_of_whole_releases);
}

absl::StatusOr<int> Run(const CommandLine& options) {
  ASSIGN_OR_RETURN(Client client, Client::Connect(options.ledger.client));
  ASSIGN_OR_RETURN(const Budget budget, client.GetBudget(options.ledger.budget));
  const PublishedBudget& claim = options.training.release.budget;
  // Ask the ledger first, then read the records.
  ASSIGN_OR_RETURN(Session session, OpenUnprovenRun({.session = options.ledger.session,
                                                     .data = options.data,
                                                     .claim = claim,
                                                     .relation = options.ledger.relation},
                                                    budget, client));
  const std::string label = absl::StrFormat(
      "Privacy label: %s (%s). Claimed epsilon %g at delta %g; proven epsilon: none, the ledger "
      "has "
      "a nonPrivate event.",
      kNotProvenLabel, kCounterexampleFlag, claim.epsilon, claim.delta);
  std::cout << "Session " << session.name() << "\n" << label << std::endl;

  ASSIGN_OR_RETURN(const LocatedImages images,
                   FindImages(options.data, DataPlaces::FromEnvironment().data_directory));
  std::cout << images.description << "\n";
  ASSIGN_OR_RETURN(PoissonSampler sampler,
                   PoissonSampler::Create(options.training.sampling_probability,
                                          static_cast<int64_t>(images.train.labels.size())));
  SecureWords words;
  std::normal_distribution<double> normal;
  ASSIGN_OR_RETURN(const PublishedRun run,
                   TrainAsPublished(
                       images.train, images.class_count, options.training,
                       [&] { return sampler.Draw(); }, [&] { return normal(words); },
                       [&](const StepReport& step) { Show(step, images.held_out); }));
  if (words.failed) return absl::InternalError("the operating system gave no randomness");
  std::cout << absl::StrFormat("Held-out accuracy %.4f. ", Accuracy(run.network, images.held_out))
            << PrintedText(run, claim) << label << "\n";
  return kTrained;
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published

int main(int argc, char** argv) {
  namespace trainer = epsledger::trainers::fsdp_published;
  trainer::ParsedCommandLine parsed = trainer::ParseCommandLine(argc, argv);
  if (!parsed.options.has_value()) return parsed.exit_code;
  const absl::StatusOr<int> exit_code = trainer::Run(*std::move(parsed.options));
  return exit_code.ok() ? *exit_code : trainer::Fail(exit_code.status());
}
