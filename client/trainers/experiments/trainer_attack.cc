// epsledger-trainer-attack runs the attacks of the trainers' folders. On artificial records it runs
// a mechanism many times with a canary and many times without, and prints the attack's score of
// each run, for an auditor to judge:
//
//   epsledger-trainer-attack A1 --claimed-epsilon 0.1 |
//     epsctl audit --method two-arm-threshold --scores - --delta 1e-5 --claimed-epsilon 0.1
//
// A1 and A2 are on ISTDP as published (istdp/attacks.h), B1 and B2 on FSDP as published
// (fsdp_published/attacks.h); "istdp" and "fsdp" are the strongest adversary against the sound
// trainers (loop_audit.h of each). Nothing is charged, because the records are artificial. The
// noise is seeded: the same command prints the same scores.

#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp/loop_audit.h"
#include "client/trainers/fsdp_published/attacks.h"
#include "client/trainers/istdp/attacks.h"
#include "client/trainers/istdp/loop_audit.h"
#include "client/trainers/run/canary_scores.h"

namespace epsledger::trainers {
namespace {

struct Flags {
  std::string attack;
  double claimed_epsilon = 1;
  double claimed_delta = 1e-5;
  double noise_multiplier = 4;
  int trials = 1000;
  uint64_t seed = 1;
};

struct Scores {
  std::vector<double> with_canary;
  std::vector<double> without_canary;
};

class SeededNoise : public GradientRelease {
 public:
  SeededNoise(uint64_t seed, double noise_multiplier)
      : generator_(seed), noise_multiplier_(noise_multiplier) {}

  double Draw() { return normal_(generator_); }
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    Eigen::VectorXd noisy = exact_sum;
    for (double& value : noisy) value += noise_multiplier_ * contribution * Draw();
    return noisy;
  }

 private:
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
  const double noise_multiplier_;
};

// Steps of a sound run, and iterations of a published run.
constexpr int kSoundIstdpSteps = 30;
constexpr int kSoundFsdpSteps = 4;
constexpr int kPublishedIterations = 10;

using IstdpAttack = absl::StatusOr<istdp::TrialScores> (*)(const istdp::AttackOptions&,
                                                           GradientRelease&);

absl::StatusOr<Scores> AttackPublishedIstdp(const Flags& flags, IstdpAttack attack) {
  const istdp::AttackOptions options{.claim = {.epsilon = flags.claimed_epsilon,
                                               .delta = flags.claimed_delta,
                                               .iterations = kPublishedIterations},
                                     .trials = flags.trials};
  ASSIGN_OR_RETURN(const auto noise, istdp::CalibrateAsPublished(options.claim));
  SeededNoise release(flags.seed, noise.noise_multiplier);
  ASSIGN_OR_RETURN(istdp::TrialScores scores, attack(options, release));
  return Scores{std::move(scores.with_record), std::move(scores.without_record)};
}

absl::StatusOr<Scores> AttackPublishedFsdp(const Flags& flags,
                                           fsdp_published::Attack (*make)(uint64_t)) {
  SeededNoise noise(flags.seed, 1);
  const fsdp_published::NormalSource normal = [&noise] { return noise.Draw(); };
  ASSIGN_OR_RETURN(
      fsdp_published::AttackScores scores,
      fsdp_published::Scores(
          make(flags.seed),
          fsdp_published::PublishedMechanism(
              {.epsilon = flags.claimed_epsilon, .delta = flags.claimed_delta}, normal),
          flags.trials));
  return Scores{std::move(scores.with), std::move(scores.without)};
}

absl::StatusOr<Scores> AttackSoundIstdp(const Flags& flags) {
  SeededNoise release(flags.seed, flags.noise_multiplier);
  ASSIGN_OR_RETURN(istdp::TrialScores scores,
                   istdp::SoundLoopScores({.steps = kSoundIstdpSteps,
                                           .trials = flags.trials,
                                           .noise_multiplier = flags.noise_multiplier,
                                           .batches = {},
                                           .direction = Eigen::VectorXd::Ones(1)},
                                          release));
  return Scores{std::move(scores.with_record), std::move(scores.without_record)};
}

absl::StatusOr<Scores> AttackSoundFsdp(const Flags& flags) {
  SeededNoise release(flags.seed, flags.noise_multiplier);
  fsdp::LoopAuditOptions options;
  options.steps = kSoundFsdpSteps;
  options.trials = flags.trials;
  options.noise_multiplier = flags.noise_multiplier;
  options.indicators = true;
  ASSIGN_OR_RETURN(fsdp::ArmScores scores, fsdp::StepScores(options, release));
  return Scores{std::move(scores.with_canary), std::move(scores.without_canary)};
}

absl::StatusOr<Scores> Attack(const Flags& flags) {
  if (flags.attack == "A1") return AttackPublishedIstdp(flags, istdp::StepSizeAttack);
  if (flags.attack == "A2") return AttackPublishedIstdp(flags, istdp::LineSearchAttack);
  if (flags.attack == "B1") return AttackPublishedFsdp(flags, fsdp_published::RowSpaceAttack);
  if (flags.attack == "B2") return AttackPublishedFsdp(flags, fsdp_published::ZeroGradientAttack);
  return flags.attack == "istdp" ? AttackSoundIstdp(flags) : AttackSoundFsdp(flags);
}

int Run(const Flags& flags) {
  const absl::StatusOr<Scores> scores = Attack(flags);
  if (!scores.ok()) {
    std::cerr << "epsledger-trainer-attack: " << scores.status().message() << "\n";
    return 1;
  }
  std::vector<double> all = scores->with_canary;
  all.insert(all.end(), scores->without_canary.begin(), scores->without_canary.end());
  std::vector<bool> is_member(scores->with_canary.size(), true);
  is_member.resize(all.size(), false);
  std::cout << CanaryScoreLines(is_member, all) << std::flush;
  return std::cout.good() ? 0 : 1;
}

}  // namespace
}  // namespace epsledger::trainers

int main(int argc, char** argv) {
  epsledger::trainers::Flags flags;
  CLI::App app(
      "Attacks a trainer on records that are nobody's, and prints the scores of its runs for\n"
      "epsctl audit --scores -.\n"
      "A1  ISTDP as published: the step size, seen from the length of a move\n"
      "A2  ISTDP as published: whether the line search accepted a candidate\n"
      "B1  FSDP as published: the row space of what is released\n"
      "B2  FSDP as published: noise that is 0 where all gradients are\n"
      "istdp, fsdp  the sound trainers, by whoever sees every release",
      "epsledger-trainer-attack");
  app.add_option("ATTACK", flags.attack)
      ->required()
      ->check(CLI::IsMember({"A1", "A2", "B1", "B2", "istdp", "fsdp"}));
  app.add_option("--claimed-epsilon", flags.claimed_epsilon,
                 "that the published algorithm draws its noise for (A1 to B2)")
      ->capture_default_str();
  app.add_option("--claimed-delta", flags.claimed_delta)->capture_default_str();
  app.add_option("--noise-multiplier", flags.noise_multiplier,
                 "of a step (istdp: of 30 steps a run; fsdp: of 4)")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--trials", flags.trials, "runs with the canary, and as many without")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--seed", flags.seed, "of the noise")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return epsledger::trainers::Run(flags);
}
