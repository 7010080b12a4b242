#ifndef EPSLEDGER_AUDIT_H_
#define EPSLEDGER_AUDIT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace epsledger {

// What an attack on canaries is evaluated by; the words of
// epsledger.v1.AuditCanariesRequest.Method.
enum class AuditMethod {
  kTwoArmThreshold = 1,
  kTwoArmGdp = 2,
  kOneRun = 3,
  kOneRunFDp = 4,
};

// What an audit of a run found, for the session's record: shown beside what is claimed and what is
// certified, and never used to decide. `epsctl audit` and AccountingService.AuditCanaries find it.
struct AuditResult {
  AuditMethod method = AuditMethod::kTwoArmThreshold;
  // The epsilon rests on the trade-off function being Gaussian (kTwoArmGdp, kOneRunFDp).
  bool if_gaussian_trade_off = false;
  double epsilon_lower_bound = 0;  // in [0, inf), at delta, at this confidence
  double delta = 0;                // in [0, 1)
  double confidence = 0;           // in (0, 1)
  // Runs of both arms, or canaries of one run. In [1, 2^53].
  int64_t trials = 0;
  std::optional<double> mu_lower_bound;  // in [0, inf)
  // What it was compared with, at delta. In [0, inf).
  std::optional<double> claimed_epsilon;
  // Which attack, and where its scores are. Up to 256 bytes.
  std::string source;
};

}  // namespace epsledger

#endif  // EPSLEDGER_AUDIT_H_
