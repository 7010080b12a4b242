#ifndef EPSLEDGER_CLIENT_CLI_REACH_SERVER_PROBE_H_
#define EPSLEDGER_CLIENT_CLI_REACH_SERVER_PROBE_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/reach/server_address.h"

namespace epsledger::cli {

// What a server speaks, as its first bytes show.
enum class Speech {
  kHttp2,    // gRPC without TLS
  kTls,      // gRPC or HTTP in TLS
  kHttp1,    // HTTP/1 without TLS
  kUnknown,  // it took the connection and said nothing that tells
};

// Opens a connection of its own, greets as a client with or without TLS would, reads what comes
// back, and closes it. No call is made and no token is sent. Returns UNAVAILABLE with the reason
// ("Connection refused") if no connection comes about within `patience`. An answer that does not
// come within two seconds is kUnknown.
//
// REQUIRES: address.kind is not kOther.
absl::StatusOr<Speech> ProbeServer(const ServerAddress& address, bool with_tls,
                                   std::chrono::milliseconds patience);

// Returns OK if a client with or without TLS can speak with a server that speaks so, or if that is
// not known. Otherwise INVALID_ARGUMENT in one sentence that says what to change. `server` is the
// address for people.
absl::Status CheckSpeech(Speech speech, bool with_tls, const std::string& server);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_REACH_SERVER_PROBE_H_
