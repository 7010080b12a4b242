#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PAGE_TOKEN_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PAGE_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace epsledger::transport {

// Where a page of a list begins. `list` says which list ("budgets/adult/sessions"): a token of
// another one is refused. Opaque to clients and no secret: it holds nothing that they may not see.
std::string MakePageToken(std::string_view list, std::string_view after);

// The `after` of MakePageToken, or "" for an empty token: the first page. INVALID_ARGUMENT
// "pageToken: got \"x\", want the nextPageToken of the answer before, with the same other fields".
absl::StatusOr<std::string> ReadPageToken(std::string_view list, std::string_view token);

// How many items a page has: `requested`, or the default for 0. INVALID_ARGUMENT unless in
// [0, 1000].
absl::StatusOr<int64_t> ReadPageSize(int32_t requested);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_PAGE_TOKEN_H_
