#ifndef EPSLEDGER_SERVER_CORE_KNOWN_FAULTS_H_
#define EPSLEDGER_SERVER_CORE_KNOWN_FAULTS_H_

// Library versions whose accounting, sampler, clipping or divisor is known to be wrong. A policy
// can refuse them. The list is what somebody reported and what was checked in the code or by its
// authors; a version that is not in it is not known to be right.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/core/command.h"

namespace epsledger::core {

// One fault of one library.
struct KnownFault {
  // What an attempt can declare so that the fault does not concern it.
  enum class Avoided : uint8_t {
    kNever,
    // A public divisor: PUBLIC_CONSTANT or EXPECTED_FROM_PUBLIC_COUNT.
    kByPublicNormalizer,
    // A sampler other than POISSON: no amplification by Poisson sampling is charged then.
    kByAnotherSampler,
  };
  // As Provenance.library. Case does not matter, and "-", "_" and "." are equal.
  std::string_view library;
  std::string_view first;  // the first version that has it, with its pre-releases
  // The version without it, or empty: none is known, and `newest_checked` still has it.
  std::string_view fixed_in;
  std::string_view newest_checked;  // the last version that was looked at and has it
  std::string_view what;            // a clause: "the accountant is given ..."
  std::string_view source;          // the address of the thread
  std::string_view date;            // of the report or of its fix, YYYY-MM-DD
  Avoided avoided = Avoided::kNever;
};

std::span<const KnownFault> KnownFaults();

// Returns the reason why an attempt with `provenance` is refused where known faults are: a fault of
// its library's version that it does not avoid, or a library or version that is not declared or
// cannot be compared: a name of letters, digits, "-", "_" and ".", and a version as PEP 440 has
// them, without an epoch. Nothing if none is known. A pre-release counts as older than its release.
std::optional<std::string> FaultOf(const Provenance& provenance);

// True if `provenance` declares a divisor that neighboring data sets have in common.
bool DeclaresPublicNormalizer(const Provenance& provenance);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_KNOWN_FAULTS_H_
