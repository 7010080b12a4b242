#ifndef EPSLEDGER_PROTO_BRIDGE_CANARY_AUDIT_H_
#define EPSLEDGER_PROTO_BRIDGE_CANARY_AUDIT_H_

// Audits: the body of AccountingService.AuditCanaries and of `epsctl audit`.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/audit/audit.h"
#include "epsledger/v1/accounting_service.pb.h"

namespace epsledger::bridge {

// The largest number of scores in one request over the wire, as stated in accounting_service.proto.
inline constexpr int64_t kMaxAuditScores = 100'000;

// Returns the question that a request asks, complete and valid. INVALID_ARGUMENT names the field in
// proto3 JSON form:
//   "method: got METHOD_UNSPECIFIED, want one of TWO_ARM_THRESHOLD, ..."
//   "memberScores[3]: got NaN, want a number"
// It also refuses a request with both scores and counts, or with neither.
absl::StatusOr<accounting::AuditQuestion> ToQuestion(const v1::AuditCanariesRequest& request,
                                                     int64_t max_scores = kMaxAuditScores);

// Status: as accounting::Audit.
absl::StatusOr<v1::AuditCanariesResponse> AuditCanaries(const accounting::AuditQuestion& question);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_CANARY_AUDIT_H_
