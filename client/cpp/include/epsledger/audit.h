#ifndef EPSLEDGER_AUDIT_H_
#define EPSLEDGER_AUDIT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace epsledger {

// The methods that evaluate an attack on canaries, as in epsledger.v1.AuditCanariesRequest.Method.
enum class AuditMethod {
  kTwoArmThreshold = 1,
  kTwoArmGdp = 2,
  kOneRun = 3,
  kOneRunFDp = 4,
};

// The result of an audit of a run, for the session's record. It is shown beside what is claimed and
// what is certified, and is never used to decide. `epsctl audit` and
// AccountingService.AuditCanaries compute it.
struct AuditResult {
  AuditMethod method = AuditMethod::kTwoArmThreshold;
  // The epsilon holds only if the trade-off function is Gaussian (kTwoArmGdp, kOneRunFDp).
  bool if_gaussian_trade_off = false;
  double epsilon_lower_bound = 0;  // in [0, inf), at delta, at this confidence
  double delta = 0;                // in [0, 1)
  double confidence = 0;           // in (0, 1)
  // The runs of both arms, or the canaries of one run. In [1, 2^53].
  int64_t trials = 0;
  std::optional<double> mu_lower_bound;  // in [0, inf)
  // The epsilon that the result was compared with, at delta. In [0, inf).
  std::optional<double> claimed_epsilon;
  // Names the attack and where its scores are. Up to 256 bytes.
  std::string source;
};

}  // namespace epsledger

#endif  // EPSLEDGER_AUDIT_H_
