#include "server/core/policy.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "accounting/event/history.h"
#include "server/core/known_faults.h"

namespace epsledger::core {
namespace {

bool Contains(const std::vector<Sampler>& samplers, Sampler sampler) {
  return std::find(samplers.begin(), samplers.end(), sampler) != samplers.end();
}

std::optional<Sampler> SamplerOf(const accounting::MechanismEvent& event) {
  if (event.As<accounting::PoissonSampled>() != nullptr) return Sampler::kPoisson;
  if (event.As<accounting::TruncatedPoissonSampled>() != nullptr) return Sampler::kTruncatedPoisson;
  if (event.As<accounting::SampledWithoutReplacement>() != nullptr) {
    return Sampler::kWithoutReplacement;
  }
  if (event.As<accounting::SampledWithReplacement>() != nullptr) return Sampler::kWithReplacement;
  if (event.As<accounting::RandomAllocation>() != nullptr) return Sampler::kRandomAllocation;
  const auto* banded = event.As<accounting::BandedMatrixFactorization>();
  if (banded != nullptr && banded->sampling_probability < 1) return Sampler::kPoisson;
  return std::nullopt;
}

// Returns the event that `event` samples or selects from, or nullptr.
const accounting::MechanismEvent* InnerOf(const accounting::MechanismEvent& event) {
  if (const auto* e = event.As<accounting::PoissonSampled>()) return &*e->event;
  if (const auto* e = event.As<accounting::TruncatedPoissonSampled>()) return &*e->event;
  if (const auto* e = event.As<accounting::SampledWithoutReplacement>()) return &*e->event;
  if (const auto* e = event.As<accounting::SampledWithReplacement>()) return &*e->event;
  if (const auto* e = event.As<accounting::RandomAllocation>()) return &*e->event;
  if (const auto* e = event.As<accounting::RepeatAndSelect>()) return &*e->event;
  if (const auto* e = event.As<accounting::Shuffled>()) return &*e->event;
  return nullptr;
}

void AddSamplers(const accounting::MechanismEvent& event, std::vector<Sampler>* samplers) {
  for (const accounting::Use& use : accounting::Flatten(event)) {
    const std::optional<Sampler> sampler = SamplerOf(*use.event);
    if (sampler.has_value() && !Contains(*samplers, *sampler)) samplers->push_back(*sampler);
    if (const accounting::MechanismEvent* inner = InnerOf(*use.event)) {
      AddSamplers(*inner, samplers);
    }
  }
}

// Blanks of any script say nothing; names and versions have a letter or a digit.
bool SaysSomething(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

}  // namespace

std::vector<Sampler> SamplersOf(const accounting::MechanismEvent& event) {
  std::vector<Sampler> samplers;
  AddSamplers(event, &samplers);
  return samplers;
}

std::optional<std::string> MissingProvenance(const Policy& policy, const Provenance& provenance) {
  if (!policy.provenance_required) return DeclarationViolation(policy, provenance);
  if (!provenance.sampler.has_value()) {
    return "provenance.sampler: got SAMPLER_UNSPECIFIED, want how the batches are drawn";
  }
  if (!(provenance.clip_norm > 0)) {
    return "provenance.clipNorm: got 0, want the largest contribution of one record, in (0, inf)";
  }
  if (!SaysSomething(provenance.library)) {
    return absl::StrFormat("provenance.library: got \"%s\", want the library's name",
                           provenance.library);
  }
  if (!SaysSomething(provenance.library_version)) {
    return absl::StrFormat("provenance.libraryVersion: got \"%s\", want the library's version",
                           provenance.library_version);
  }
  return DeclarationViolation(policy, provenance);
}

std::optional<std::string> DeclarationViolation(const Policy& policy,
                                                const Provenance& provenance) {
  const std::vector<Normalizer>& allowed = policy.allowed_normalizers;
  const bool is_allowed = allowed.empty() || (provenance.normalizer.has_value() &&
                                              std::find(allowed.begin(), allowed.end(),
                                                        *provenance.normalizer) != allowed.end());
  if (!is_allowed) {
    return absl::StrFormat(
        "provenance.normalizer: got %s, want what the noisy sum is divided by, one of %s",
        provenance.normalizer.has_value() ? Name(*provenance.normalizer) : "NORMALIZER_UNSPECIFIED",
        absl::StrJoin(allowed, ", ", [](std::string* out, Normalizer one) { *out += Name(one); }));
  }
  return policy.known_faults_refused ? FaultOf(provenance) : std::nullopt;
}

std::optional<std::string> SamplerViolation(const std::vector<Sampler>& samplers,
                                            const Provenance& provenance,
                                            const std::vector<const Policy*>& policies) {
  for (Sampler sampler : samplers) {
    if (provenance.sampler.has_value() && *provenance.sampler != sampler) {
      return absl::StrFormat(
          "the event is proved for %s batches and the attempt says that it draws %s ones; charge "
          "the event without sampling, or draw %s batches",
          Name(sampler), Name(*provenance.sampler), Name(sampler));
    }
    for (const Policy* policy : policies) {
      if (policy->allowed_samplers.empty()) continue;
      if (!provenance.sampler.has_value()) {
        return "the attempt must say how it draws its batches (provenance.sampler) before it "
               "charges a sampled event";
      }
      if (!Contains(policy->allowed_samplers, sampler)) {
        return absl::StrFormat("%s batches are not allowed here", Name(sampler));
      }
    }
  }
  return std::nullopt;
}

const char* Name(Sampler sampler) {
  switch (sampler) {
    case Sampler::kPoisson:
      return "POISSON";
    case Sampler::kTruncatedPoisson:
      return "TRUNCATED_POISSON";
    case Sampler::kWithoutReplacement:
      return "WITHOUT_REPLACEMENT";
    case Sampler::kWithReplacement:
      return "WITH_REPLACEMENT";
    case Sampler::kRandomAllocation:
      return "RANDOM_ALLOCATION";
    case Sampler::kFullBatch:
      return "FULL_BATCH";
    case Sampler::kShuffled:
      return "SHUFFLED";
  }
  return "UNKNOWN_SAMPLER";
}

const char* Name(Normalizer normalizer) {
  switch (normalizer) {
    case Normalizer::kPublicConstant:
      return "PUBLIC_CONSTANT";
    case Normalizer::kExpectedFromPublicCount:
      return "EXPECTED_FROM_PUBLIC_COUNT";
    case Normalizer::kExpectedFromPrivateCount:
      return "EXPECTED_FROM_PRIVATE_COUNT";
    case Normalizer::kSampledBatchSize:
      return "SAMPLED_BATCH_SIZE";
  }
  return "UNKNOWN_NORMALIZER";
}

}  // namespace epsledger::core
