#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_RUN_AUDITED_CHARGE_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_RUN_AUDITED_CHARGE_H_

#include "gtest/gtest.h"

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/answer.h"
#include "accounting/audit/audit.h"

namespace epsledger::trainers {

// The target of every audit here. An audit holds with probability 1 - 1e-6, and the noise is
// seeded.
inline constexpr accounting::AuditTarget kSureTarget{.delta = 1e-5, .confidence = 1 - 1e-6};

// The events that a trainer was charged for, with their counts.
using Charges = std::vector<accounting::CountedEvent>;

inline accounting::CountedEvent GaussianSteps(double noise_multiplier, int64_t count) {
  const accounting::MechanismEvent step(accounting::Gaussian{.noise_multiplier = noise_multiplier});
  return {.event = step, .count = count};
}

inline accounting::CountedEvent SampledGaussianSteps(double sampling_probability,
                                                     double noise_multiplier, int64_t count) {
  const accounting::MechanismEvent step(accounting::PoissonSampled{
      .sampling_probability = sampling_probability,
      .event =
          accounting::MechanismEvent(accounting::Gaussian{.noise_multiplier = noise_multiplier})});
  return {.event = step, .count = count};
}

// The result of an audit, next to what was charged.
struct AuditedCharge {
  double claimed = 0;      // the epsilon of the charges
  double lower_bound = 0;  // of the audit, under its method's hypothesis
  // The charges' trade-off function makes the counts impossible at this confidence; needs no
  // hypothesis. False if the audit did not ask for it.
  bool contradicted = false;
};

inline AuditedCharge AuditAgainst(accounting::Question history, bool with_certificate,
                                  accounting::AuditQuestion question) {
  history.query = accounting::EpsilonAtDelta::FromDelta(question.target.delta);
  const absl::StatusOr<accounting::Guarantee> claimed = accounting::Answer(history);
  if (with_certificate) question.history = std::move(history);
  const absl::StatusOr<accounting::AuditAnswer> answer = accounting::Audit(question);
  if (!claimed.ok() || !answer.ok()) {
    ADD_FAILURE() << claimed.status() << " " << answer.status();
    return {};
  }
  const AuditedCharge audited{.claimed = claimed->upper.value(),
                              .lower_bound = answer->epsilon.lower.value(),
                              .contradicted = answer->contradicts_certificate.value_or(false)};
  testing::Test::RecordProperty("claimed", std::to_string(audited.claimed));
  testing::Test::RecordProperty("lower_bound", std::to_string(audited.lower_bound));
  return audited;
}

// Audits Gaussian releases without sampling, whose trade-off function is Gaussian.
inline AuditedCharge AuditGaussian(
    accounting::CanaryScores scores, Charges charges,
    accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne) {
  accounting::Question history;
  history.relation = relation;
  history.events = std::move(charges);
  accounting::AuditQuestion question;
  question.method = accounting::AuditMethod::kTwoArmGdp;
  question.target = kSureTarget;
  question.evidence = std::move(scores);
  return AuditAgainst(std::move(history), true, std::move(question));
}

// Audits any release, without a hypothesis. Makes no certificate: a sampled history would take 400
// queries.
inline AuditedCharge AuditByCounting(
    accounting::CanaryScores scores, Charges charges,
    const accounting::AuditTarget& target = kSureTarget,
    accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne) {
  accounting::Question history;
  history.relation = relation;
  history.events = std::move(charges);
  accounting::AuditQuestion question;
  question.method = accounting::AuditMethod::kTwoArmThreshold;
  question.target = target;
  question.evidence = std::move(scores);
  return AuditAgainst(std::move(history), false, std::move(question));
}

// Returns draws of one record with the probability, from a fixed seed.
inline std::function<absl::StatusOr<std::vector<int>>()> SeededDraws(uint64_t seed,
                                                                     double probability) {
  return [generator = std::mt19937_64(seed),
          present = std::bernoulli_distribution(probability)]() mutable {
    return present(generator) ? std::vector<int>{0} : std::vector<int>();
  };
}

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_RUN_AUDITED_CHARGE_H_
