#include "server/core/audit_record.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/domain.h"

namespace epsledger::core {
namespace {

// Three digits after the decimal point, never above `value`.
std::string RoundedDown(double value) {
  return accounting::FormatDouble(value < 1e12 ? std::floor(value * 1000) / 1000 : value);
}

}  // namespace

const char* Name(accounting::AuditMethod method) {
  switch (method) {
    case accounting::AuditMethod::kTwoArmThreshold:
      return "TWO_ARM_THRESHOLD";
    case accounting::AuditMethod::kTwoArmGdp:
      return "TWO_ARM_GDP";
    case accounting::AuditMethod::kOneRun:
      return "ONE_RUN";
    case accounting::AuditMethod::kOneRunFDp:
      return "ONE_RUN_F_DP";
  }
  return "UNKNOWN_METHOD";
}

std::string Describe(const AuditRecord& audit) {
  std::string text =
      absl::StrFormat("epsilon is at least %s at delta %s, confidence %s (%s, %d trials)",
                      RoundedDown(audit.epsilon_lower), accounting::FormatDouble(audit.delta),
                      accounting::FormatDouble(audit.confidence), Name(audit.method), audit.trials);
  if (audit.hypothesis == accounting::AuditHypothesis::kGaussianTradeOff) {
    absl::StrAppend(&text, ", if the trade-off function is Gaussian");
  }
  return text;
}

}  // namespace epsledger::core
