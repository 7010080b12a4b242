#ifndef EPSLEDGER_GUARANTEE_H_
#define EPSLEDGER_GUARANTEE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace epsledger {

enum class GuaranteeKind {
  kUnspecified = 0,
  kUpperBound = 1,     // upper >= the truth, rounding included
  kLowerBound = 2,     // lower <= the truth, rounding included
  kApproximation = 3,  // neither: shown, labelled, and never used to decide
};

// One accountant's epsilon of a history, or the reason why it has none.
struct AccountantReading {
  std::string accountant;  // "RENYI", ...: as in epsledger.v1.Accountant.Kind
  // Set when the accountant knows every event of the history.
  std::optional<double> upper;
  std::optional<double> lower;
  GuaranteeKind kind = GuaranteeKind::kUnspecified;
  std::string theorem;
  bool contains_unverified_claim = false;
  // With BEST: the accountant whose answer it is.
  std::string answered_by;
  // Set when there is no guarantee.
  std::string reason_unavailable;
};

// What a session's history spends, under every accountant. In an ADAPTIVE session these are
// odometer readings: they describe, the filters decide.
struct SessionGuarantees {
  double delta = 0;
  std::vector<AccountantReading> readings;
  int64_t sequence = 0;  // the ledger position that they describe
};

}  // namespace epsledger

#endif  // EPSLEDGER_GUARANTEE_H_
