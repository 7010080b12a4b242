#ifndef EPSLEDGER_SERVER_CORE_AUDIT_RECORD_H_
#define EPSLEDGER_SERVER_CORE_AUDIT_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "accounting/audit/audit.h"

namespace epsledger::core {

// The result of an audit of a run, as reported by the person who ran it. The ledger cannot repeat
// the audit, and the record influences no decision.
struct AuditRecord {
  accounting::AuditMethod method = accounting::AuditMethod::kTwoArmThreshold;
  accounting::AuditHypothesis hypothesis = accounting::AuditHypothesis::kNone;
  // A lower bound on the epsilon at `delta`, at `confidence`.
  double epsilon_lower = 0;
  double delta = 0;
  double confidence = 0;
  int64_t trials = 0;
  std::optional<double> mu_lower;
  // The epsilon that the bound was compared with, at `delta`.
  std::optional<double> claimed_epsilon;
  std::string source;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("method", s.method);
    v("hypothesis", s.hypothesis);
    v("epsilon_lower", s.epsilon_lower);
    v("delta", s.delta);
    v("confidence", s.confidence);
    v("trials", s.trials);
    v("mu_lower", s.mu_lower);
    v("claimed_epsilon", s.claimed_epsilon);
    v("source", s.source);
  }
};

// "TWO_ARM_THRESHOLD", ..., as in the API.
const char* Name(accounting::AuditMethod method);

// Returns one line for people, without `source`, which is a client's text: "epsilon is at least 1.5
// at delta 1e-05, confidence 0.95 (TWO_ARM_GDP, 20000 trials), if the trade-off function is
// Gaussian". The bound is rounded down.
std::string Describe(const AuditRecord& audit);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_AUDIT_RECORD_H_
