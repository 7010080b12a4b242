#ifndef EPSLEDGER_CLIENT_CPP_CHARGING_H_
#define EPSLEDGER_CLIENT_CPP_CHARGING_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/connection.h"
#include "epsledger/v1/charge.pb.h"
#include "epsledger/v1/charge_service.pb.h"

namespace epsledger {

// Returns INVALID_ARGUMENT for a number of uses outside [1, 2^53].
absl::Status ValidateCount(int64_t count);

// Returns OK if `charge` is an ACCEPTED charge of exactly this key, event and count, with a
// sequence number, and otherwise INTERNAL, which names the first difference (the ledger's invariant
// I19).
absl::Status VerifyAccepted(const v1::ChargeRequest& request, const v1::Charge& charge);

// Sends `request`, always with its one key, until the outcome is definite or the connection's
// RetryOptions are used up. Returns the charge if and only if VerifyAccepted is OK.
//
// A refusal of this key is FAILED_PRECONDITION or ABORTED with RefusedChargeOf(status). Any other
// status is an error. It has UnknownCharge(status) if the charge may have been committed: some try
// ended without a definite answer, and no later answer was a decision on this key.
absl::StatusOr<v1::Charge> ChargeUntilDefinite(Connection& connection,
                                               const v1::ChargeRequest& request);

// Does the same for a lease: returns it if and only if it grants exactly this key, event and count.
absl::StatusOr<v1::Lease> LeaseUntilDefinite(Connection& connection,
                                             const v1::AcquireLeaseRequest& request);

// Does the same for several charges in one call: returns one result per item in order, each as
// ChargeUntilDefinite returns it. An error of the call is one of all items; it has
// UnknownCharge(status) of the first item if they may have been committed.
absl::StatusOr<std::vector<absl::StatusOr<v1::Charge>>> BatchUntilDefinite(
    Connection& connection, const v1::BatchChargeRequest& request);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_CHARGING_H_
