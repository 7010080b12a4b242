#ifndef EPSLEDGER_SERVER_CORE_PROPOSAL_H_
#define EPSLEDGER_SERVER_CORE_PROPOSAL_H_

// Two people: a change that one person proposes is made when another one approves it.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "server/core/command.h"

namespace epsledger::core {

// kExpired once a later one was proposed; until then HasExpired tells. Numbers as in
// proposal_service.proto.
enum class ProposalState : uint8_t { kPending = 1, kApproved = 2, kRejected = 3, kExpired = 4 };

// A proposal as it is now.
struct Proposal {
  ProposeChange asked;
  // Of the entry that proposed it.
  int64_t sequence = 0;
  int64_t create_time_micros = 0;
  ProposalState state = ProposalState::kPending;
  // Set once the proposal is not pending.
  std::string resolved_by;
  std::string resolve_reason;
  int64_t resolve_time_micros = 0;
};

// A pending proposal can be approved until its time.
inline bool HasExpired(const Proposal& proposal, int64_t now_micros) {
  return proposal.state == ProposalState::kPending &&
         proposal.asked.expire_time_micros <= now_micros;
}

// False if the two are one: the same principal, or one who made the other's token, or the token
// with which it was made, and so on; or if one person made the tokens of both, who could use
// either. False too if one of them has a token whose makers are not all known.
bool AreTwoPeople(const Person& a, const Person& b);

// What makes the change.
CommandBody CommandFor(const ProposeChange& proposal);

// "SUPERSEDE", ...
const char* Name(GuardedChange change);
// One line for people: "close it", "supersede it by adult-2: (1, 1e-05)-DP by renyi orders".
std::string Describe(const ProposedChange& change);

// FAILED_PRECONDITION of a change that one person may not make alone.
absl::Status ApprovalRequired(std::string_view message);
bool IsApprovalRequired(const absl::Status& status);
// FAILED_PRECONDITION of an approval by the person who proposed the change.
absl::Status SecondPersonRequired(std::string_view message);
bool IsSecondPersonRequired(const absl::Status& status);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PROPOSAL_H_
