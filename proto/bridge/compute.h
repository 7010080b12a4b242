#ifndef EPSLEDGER_PROTO_BRIDGE_COMPUTE_H_
#define EPSLEDGER_PROTO_BRIDGE_COMPUTE_H_

// One computation: the body of AccountingService.Compute and of `epsctl compute`, which reads the
// same message as a line of proto3 JSON.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/question.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "proto/bridge/history_convert.h"

namespace epsledger::bridge {

// A bound on one request, in addition to those of its history. Stated in accounting_service.proto.
inline constexpr int64_t kMaxComputeIdBytes = 256;

// Reads one line strictly into `request`. Unknown fields, unknown names of enumerations, repeated
// keys and anything that is not JSON are INVALID_ARGUMENT, which says what is wrong and where. On
// an error `request` holds only the id, if it could be read.
absl::Status ParseJson(std::string_view line, v1::ComputeRequest* request);

// Returns the question that a request asks. INVALID_ARGUMENT names the field in proto3 JSON form,
// what it got and what it wants: "query.epsilonAtDelta: got 1.5, want in [0, 1]".
absl::StatusOr<accounting::Question> ToQuestion(const v1::ComputeRequest& request);

// Answers a request. Copies `id`, and sets `seconds` to the time that the mathematics took.
// Status: as ToQuestion and accounting::Answer.
absl::StatusOr<v1::ComputeResponse> Compute(const v1::ComputeRequest& request);

// Returns the answer to a request that failed, with the code and the message of `status`.
// REQUIRES: !status.ok().
v1::ComputeResponse Failure(const std::string& id, const absl::Status& status);

// Returns proto3 JSON in one line, without a newline. Prints every number that is set, zero
// included.
std::string ToJsonLine(const v1::ComputeResponse& response);

// Does all of the above: returns the answer to one line of a request, which may be an error.
v1::ComputeResponse AnswerJsonLine(std::string_view line);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_COMPUTE_H_
