#ifndef EPSLEDGER_CLIENT_CPP_PREVIEW_H_
#define EPSLEDGER_CLIENT_CPP_PREVIEW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/cpp/connection.h"
#include "epsledger/mechanism.h"
#include "epsledger/session.h"
#include "epsledger/v1/charge_service.pb.h"

namespace epsledger {

// Asks what `count` uses of `mechanism` would do to the session or budget that `request` names.
// INVALID_ARGUMENT for a count outside [1, 2^53].
absl::StatusOr<ChargePreview> PreviewOf(Connection& connection, v1::PreviewChargeRequest request,
                                        const Mechanism& mechanism, int64_t count);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_PREVIEW_H_
