#include "server/core/known_faults.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <vector>

#include "absl/strings/str_format.h"

namespace epsledger::core {
namespace {

using Avoided = KnownFault::Avoided;

// Each row was read in its thread, and its versions in the library's changelog and tags.
constexpr auto kKnownFaults = std::to_array<KnownFault>({
    {.library = "opacus",
     .first = "0.9.0",
     .fixed_in = "0.12.0",
     .newest_checked = "0.11.0",
     .what = "the accountant assumes Poisson batches and fixed shuffled ones are drawn",
     .source = "https://github.com/meta-pytorch/opacus/pull/128",
     .date = "2021-02-02",
     .avoided = Avoided::kByAnotherSampler},
    {.library = "opacus",
     .first = "1.0.0",
     .fixed_in = "",
     .newest_checked = "1.6.0",
     .what = "the noisy sum is divided by an expected batch size that is computed from the number "
             "of records in the data set",
     .source = "https://github.com/meta-pytorch/opacus/issues/819",
     .date = "2026-05-18",
     .avoided = Avoided::kByPublicNormalizer},
    {.library = "opacus",
     .first = "1.3.0",
     .fixed_in = "1.6.0",
     .newest_checked = "1.5.4",
     .what = "with adaptive clipping the accountant is given the wrong noise multiplier",
     .source = "https://github.com/meta-pytorch/opacus/pull/807",
     .date = "2026-03-06"},
    {.library = "opacus",
     .first = "1.5",
     .fixed_in = "1.5.3",
     .newest_checked = "1.5.2",
     .what = "with ghost clipping the privacy engine does not use max_grad_norm",
     .source = "https://github.com/meta-pytorch/opacus/pull/664",
     .date = "2024-08-12"},
    {.library = "opacus",
     .first = "1.5",
     .fixed_in = "1.5.4",
     .newest_checked = "1.5.3",
     .what = "ghost clipping computes wrong norms of bias gradients of sequences",
     .source = "https://github.com/meta-pytorch/opacus/pull/751",
     .date = "2025-04-09"},
    {.library = "jax_privacy.keras_api",
     .first = "1.0.0",
     .fixed_in = "2.0.0",
     .newest_checked = "1.0.0",
     .what = "the accountant assumes Poisson batches and fit() draws fixed ones",
     .source = "https://github.com/google-deepmind/jax_privacy/issues/84",
     .date = "2026-01-06",
     .avoided = Avoided::kByAnotherSampler},
});

std::string PlainName(std::string_view library) {
  std::string name(library);
  for (char& c : name) {
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

struct ComparableVersion {
  std::vector<int64_t> numbers;  // without zeros at the end
  bool is_pre_release = false;
  friend bool operator<(const ComparableVersion& a, const ComparableVersion& b) {
    if (a.numbers != b.numbers) return a.numbers < b.numbers;
    return a.is_pre_release && !b.is_pre_release;
  }
};

// Reads "1.5", "v1.5.4", "2.3.0.dev0", "1.6.0+cu126". Nothing if it does not start with a number.
std::optional<ComparableVersion> ReadVersion(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  ComparableVersion version;
  while (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) {
    int64_t number = 0;
    for (; !text.empty() && std::isdigit(static_cast<unsigned char>(text[0]));
         text.remove_prefix(1)) {
      number = std::min<int64_t>(number * 10 + (text[0] - '0'), 1'000'000'000);
    }
    version.numbers.push_back(number);
    if (text.size() < 2 || text[0] != '.' || !std::isdigit(static_cast<unsigned char>(text[1]))) {
      break;
    }
    text.remove_prefix(1);
  }
  if (version.numbers.empty()) return std::nullopt;
  while (version.numbers.size() > 1 && version.numbers.back() == 0) version.numbers.pop_back();
  // "post" comes after the release; a local version, after "+", is the release.
  version.is_pre_release =
      !text.empty() && text[0] != '+' && text.find("post") == std::string_view::npos;
  return version;
}

bool Has(const KnownFault& fault, const ComparableVersion& version) {
  if (version < *ReadVersion(fault.first)) return false;
  // Without a fix, what comes after the last version that was checked is not known to have it.
  return fault.fixed_in.empty() ? !(*ReadVersion(fault.newest_checked) < version)
                                : version < *ReadVersion(fault.fixed_in);
}

bool Avoids(const Provenance& provenance, Avoided avoided) {
  switch (avoided) {
    case Avoided::kNever:
      return false;
    case Avoided::kByPublicNormalizer:
      return DeclaresPublicNormalizer(provenance);
    case Avoided::kByAnotherSampler:
      return provenance.sampler.has_value() && *provenance.sampler != Sampler::kPoisson;
  }
  return false;
}

std::string Remedy(const KnownFault& fault) {
  std::string wanted = fault.fixed_in.empty()
                           ? std::string("a version that is not known to have a fault")
                           : absl::StrFormat("%s or later", fault.fixed_in);
  if (fault.avoided == Avoided::kByPublicNormalizer) {
    wanted += ", or an attempt that divides by a public number and says so";
  } else if (fault.avoided == Avoided::kByAnotherSampler) {
    wanted += ", or an attempt that says which other sampler it uses";
  }
  return wanted;
}

}  // namespace

std::span<const KnownFault> KnownFaults() { return kKnownFaults; }

bool DeclaresPublicNormalizer(const Provenance& provenance) {
  return provenance.normalizer == Normalizer::kPublicConstant ||
         provenance.normalizer == Normalizer::kExpectedFromPublicCount;
}

std::optional<std::string> FaultOf(const Provenance& provenance) {
  if (provenance.library.empty()) return "provenance.library: got \"\", want the library's name";
  const std::optional<ComparableVersion> version = ReadVersion(provenance.library_version);
  if (!version.has_value()) {
    return absl::StrFormat(
        "provenance.libraryVersion: got \"%s\", want a version that can be compared with those "
        "that "
        "have known faults, like 1.6.0",
        provenance.library_version);
  }
  for (const KnownFault& fault : kKnownFaults) {
    if (PlainName(fault.library) != PlainName(provenance.library) || !Has(fault, *version) ||
        Avoids(provenance, fault.avoided)) {
      continue;
    }
    return absl::StrFormat(
        "provenance.libraryVersion: got %s %s, of which is known: %s (%s, %s); want %s",
        provenance.library, provenance.library_version, fault.what, fault.source, fault.date,
        Remedy(fault));
  }
  return std::nullopt;
}

}  // namespace epsledger::core
