#ifndef EPSLEDGER_SERVER_CORE_POLICY_H_
#define EPSLEDGER_SERVER_CORE_POLICY_H_

#include <optional>
#include <string>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "server/core/command.h"

namespace epsledger::core {

// Returns the samplers for which the amplification of an event is proved: kPoisson for
// poissonSampled. Empty if nothing is sampled.
std::vector<Sampler> SamplersOf(const accounting::MechanismEvent& event);

// Returns what `provenance` lacks for an attempt under `policy`: "provenance.library: got \"\",
// want ..."; nothing if it is complete or not required. Includes DeclarationViolation.
std::optional<std::string> MissingProvenance(const Policy& policy, const Provenance& provenance);

// Returns the reason why an attempt with `provenance` may not charge an event that is proved for
// `samplers`; nothing if it may. A sampler that contradicts the event is always a violation, with
// or without a policy.
std::optional<std::string> SamplerViolation(const std::vector<Sampler>& samplers,
                                            const Provenance& provenance,
                                            const std::vector<const Policy*>& policies);

// Returns the reason why an attempt with `provenance` may not charge anything under `policy`: what
// it divides by is not allowed or not declared, or its library has a known fault. Nothing if it
// may. An attempt that declares nothing is never taken for one that divides by a public number.
std::optional<std::string> DeclarationViolation(const Policy& policy, const Provenance& provenance);

// "POISSON", ...
const char* Name(Sampler sampler);
// "PUBLIC_CONSTANT", ...
const char* Name(Normalizer normalizer);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_POLICY_H_
