#include "server/core/known_faults.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
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

// The name by which an index knows a project: in lower case, with one "_" for each run of "-", "_"
// and "." (PEP 503). Empty if the text has any other character, or one of these at an end: then it
// is no name that can be looked up.
std::string PlainName(std::string_view library) {
  std::string name;
  for (const char c : library) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte)) {
      name += static_cast<char>(std::tolower(byte));
    } else if (c != '-' && c != '_' && c != '.') {
      return "";
    } else if (name.empty() || name.back() != '_') {
      name += '_';
    }
  }
  return name.empty() || name.front() == '_' || name.back() == '_' ? "" : name;
}

struct ComparableVersion {
  std::vector<int64_t> numbers;  // without zeros at the end
  bool is_pre_release = false;
  friend bool operator<(const ComparableVersion& a, const ComparableVersion& b) {
    if (a.numbers != b.numbers) return a.numbers < b.numbers;
    return a.is_pre_release && !b.is_pre_release;
  }
};

// Reads a version from its beginning.
class VersionReader {
 public:
  explicit VersionReader(std::string text) : text_(std::move(text)) {}

  // Takes a number, at most a billion.
  std::optional<int64_t> Number() {
    if (left().empty() || !IsDigit(left()[0])) return std::nullopt;
    int64_t number = 0;
    for (; !left().empty() && IsDigit(left()[0]); ++at_) {
      number = std::min<int64_t>(number * 10 + (left()[0] - '0'), 1'000'000'000);
    }
    return number;
  }
  bool Take(std::string_view word) {
    if (!left().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  // Takes one of the words with at most one of ".-_" before it, and the number that may follow.
  bool TakeMark(std::initializer_list<std::string_view> words) {
    const size_t before = at_;
    Take(".") || Take("-") || Take("_");
    for (const std::string_view word : words) {
      if (!Take(word)) continue;
      const size_t after = at_;
      Take(".") || Take("-") || Take("_");
      if (!Number().has_value()) at_ = after;
      return true;
    }
    at_ = before;
    return false;
  }
  std::string_view left() const { return std::string_view(text_).substr(at_); }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  const std::string text_;
  size_t at_ = 0;
};

bool IsLocalLabel(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

// Reads the versions of PEP 440 without an epoch: "1.5", "v1.5.4", "2.3.0.dev0", "1.6.0rc1",
// "1.6.0.post1", "1.6.0-1", "1.6.0+cu126". Nothing for any other text: what is not understood must
// not pass for a version that is older than a fault.
std::optional<ComparableVersion> ReadVersion(std::string_view text) {
  VersionReader reader(absl::AsciiStrToLower(absl::string_view(text.data(), text.size())));
  reader.Take("v");
  ComparableVersion version;
  do {
    const std::optional<int64_t> number = reader.Number();
    if (!number.has_value()) return std::nullopt;
    version.numbers.push_back(*number);
  } while (reader.left().size() > 1 && reader.left()[1] >= '0' && reader.left()[1] <= '9' &&
           reader.Take("."));
  while (version.numbers.size() > 1 && version.numbers.back() == 0) version.numbers.pop_back();
  const bool is_pre = reader.TakeMark({"alpha", "beta", "preview", "pre", "rc", "a", "b", "c"});
  bool is_post = reader.TakeMark({"post", "rev", "r"});
  if (!is_post && reader.Take("-")) {
    if (!reader.Number().has_value()) return std::nullopt;
    is_post = true;
  }
  const bool is_development = reader.TakeMark({"dev"});
  if (reader.Take("+")) {
    if (!IsLocalLabel(reader.left())) return std::nullopt;
  } else if (!reader.left().empty()) {
    return std::nullopt;
  }
  // What follows a release, a development of that too, is after it.
  version.is_pre_release = is_pre || (is_development && !is_post);
  return version;
}

bool Has(const KnownFault& fault, const ComparableVersion& version) {
  if (version.numbers < ReadVersion(fault.first)->numbers) return false;
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
  const std::string library = PlainName(provenance.library);
  if (library.empty()) {
    return absl::StrFormat(
        "provenance.library: got \"%s\", want the name that its package index has, like opacus",
        provenance.library);
  }
  const std::optional<ComparableVersion> version = ReadVersion(provenance.library_version);
  if (!version.has_value()) {
    return absl::StrFormat(
        "provenance.libraryVersion: got \"%s\", want a version that can be compared with those "
        "that have known faults, like 1.6.0",
        provenance.library_version);
  }
  for (const KnownFault& fault : kKnownFaults) {
    if (PlainName(fault.library) != library || !Has(fault, *version) ||
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
