#ifndef EPSLEDGER_SERVER_CORE_PROPOSAL_H_
#define EPSLEDGER_SERVER_CORE_PROPOSAL_H_

// Approval by two people: a change that one person proposes is made when another person approves
// it.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "server/core/command.h"

namespace epsledger::core {

// An expired proposal becomes kExpired only when a later one is proposed; before that, use
// HasExpired. Numbers as in proposal_service.proto.
enum class ProposalState : uint8_t { kPending = 1, kApproved = 2, kRejected = 3, kExpired = 4 };

// A proposal in its present state.
struct Proposal {
  ProposeChange asked;
  // The sequence number of the entry that proposed it.
  int64_t sequence = 0;
  int64_t create_time_micros = 0;
  ProposalState state = ProposalState::kPending;
  // Set once the proposal is not pending.
  std::string resolved_by;
  std::string resolve_reason;
  int64_t resolve_time_micros = 0;
};

// True if the proposal is pending and its expiry time has come. It then can no longer be approved.
inline bool HasExpired(const Proposal& proposal, int64_t now_micros) {
  return proposal.state == ProposalState::kPending &&
         proposal.asked.expire_time_micros <= now_micros;
}

// Returns false if the two may be one person: they have the same principal but for
// the case of ASCII letters; or one made the other's
// token, or the token with which that was made, and so on; or one person made the tokens of both
// and could use either. Also returns false if not all makers of one of the tokens are known.
bool AreTwoPeople(const Person& a, const Person& b);

// Returns the command that makes the change.
CommandBody CommandFor(const ProposeChange& proposal);

// "SUPERSEDE", ...
const char* Name(GuardedChange change);
// Returns one line for people: "close it", "supersede it by adult-2: (1, 1e-05)-DP by renyi
// orders".
std::string Describe(const ProposedChange& change);

// FAILED_PRECONDITION for a change that one person may not make alone.
absl::Status ApprovalRequired(std::string_view message);
bool IsApprovalRequired(const absl::Status& status);
// FAILED_PRECONDITION for an approval by the person who proposed the change.
absl::Status SecondPersonRequired(std::string_view message);
bool IsSecondPersonRequired(const absl::Status& status);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PROPOSAL_H_
