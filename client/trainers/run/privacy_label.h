#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_PRIVACY_LABEL_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_PRIVACY_LABEL_H_

#include <string_view>

namespace epsledger::trainers {

// The labels of a run's guarantee in the output, the log and the ledger.

// Every access to private records is a charged mechanism event or post-processing of one. The proof
// is in the trainer's README, and epsilon comes from the ledger.
inline constexpr std::string_view kProvenLabel = "proven";

// A faithful run of the paper's algorithm. The paper's claim is shown as a claim; no epsilon is
// proven.
inline constexpr std::string_view kNotProvenLabel = "as published; claimed guarantee not proven";

// Added to kNotProvenLabel where a counterexample contradicts the claim.
inline constexpr std::string_view kCounterexampleFlag = "counterexample_known";

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_PRIVACY_LABEL_H_
