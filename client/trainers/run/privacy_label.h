#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_PRIVACY_LABEL_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_PRIVACY_LABEL_H_

#include <string_view>

namespace epsledger::trainers {

// How the guarantee of a run is labelled wherever it is shown: output, log, ledger.

// Every access to private records is a charged mechanism event or post-processing of one, with the
// proof in the trainer's README. Epsilon comes from the ledger.
inline constexpr std::string_view kProvenLabel = "proven";

// A faithful run of the paper. What it claims is shown as a claim and no epsilon is proven.
inline constexpr std::string_view kNotProvenLabel = "as published; claimed guarantee not proven";

// Added to the second where an example contradicts the claim.
inline constexpr std::string_view kCounterexampleFlag = "counterexample_known";

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_PRIVACY_LABEL_H_
