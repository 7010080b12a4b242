#ifndef EPSLEDGER_CLIENT_CLI_REACH_AWAIT_SERVER_H_
#define EPSLEDGER_CLIENT_CLI_REACH_AWAIT_SERVER_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/reach/retry_notice.h"
#include "client/cli/reach/server_address.h"

namespace epsledger::cli {

// Waits until the server takes a connection, before any call is made, and returns how much of
// `timeout` is left: all of it if the first try succeeds. The notice tells of every further try.
// `server` is the address for people.
//
// UNAVAILABLE with IsNothingSent(status) if the time is over. INVALID_ARGUMENT in one sentence, at
// once, if the server does not speak what the client would. An address that only gRPC understands,
// and one behind a proxy of the environment, is not looked at.
absl::StatusOr<std::chrono::milliseconds> AwaitServer(const ServerAddress& address, bool with_tls,
                                                      std::chrono::milliseconds timeout,
                                                      const std::string& server,
                                                      RetryNotice& notice);

// Returns true if the call failed before a byte of it left this process: it did not happen.
bool IsNothingSent(const absl::Status& status);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_REACH_AWAIT_SERVER_H_
