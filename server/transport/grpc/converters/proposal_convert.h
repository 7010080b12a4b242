#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PROPOSAL_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PROPOSAL_CONVERT_H_

// Converts proposals and approval policies from and to their messages.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "server/core/command.h"
#include "server/core/proposal.h"

namespace epsledger::transport {

// Returns the changes in rising order. INVALID_ARGUMENT for an unknown change and for a repeated
// one.
absl::StatusOr<std::vector<core::GuardedChange>> FromProto(const v1::ApprovalPolicy& policy,
                                                           const std::string& path);
void ToProto(const std::vector<core::GuardedChange>& guarded, v1::ApprovalPolicy* message);

// Returns the proposal made at `now_micros`, without the proposer. INVALID_ARGUMENT names the
// field.
absl::StatusOr<core::ProposeChange> FromProto(const v1::CreateProposalRequest& request,
                                              int64_t now_micros);
void ToProto(const core::Proposal& proposal, int64_t now_micros, v1::Proposal* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PROPOSAL_CONVERT_H_
