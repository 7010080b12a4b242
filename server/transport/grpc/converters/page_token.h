#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PAGE_TOKEN_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PAGE_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace epsledger::transport {

// Returns a token for the start of a page of a list. `list` names the list
// ("budgets/adult/sessions"): tokens of another list are refused. The token is opaque to clients
// but not secret: it contains nothing that they may not see.
std::string MakePageToken(std::string_view list, std::string_view after);

// Returns the `after` of MakePageToken, or "" for an empty token, which means the first page.
// INVALID_ARGUMENT "pageToken: got \"x\", want the nextPageToken of the answer before, with the
// same other fields".
absl::StatusOr<std::string> ReadPageToken(std::string_view list, std::string_view token);

// Returns the number of items of a page: `requested`, or the default for 0. INVALID_ARGUMENT unless
// in [0, 1000].
absl::StatusOr<int64_t> ReadPageSize(int32_t requested);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PAGE_TOKEN_H_
