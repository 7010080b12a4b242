#ifndef EPSLEDGER_CLIENT_CLI_REACH_SERVER_ADDRESS_H_
#define EPSLEDGER_CLIENT_CLI_REACH_SERVER_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace epsledger::cli {

// The value of --server.
struct ServerAddress {
  enum class Kind {
    kHost,   // host and port
    kUnix,   // path; of an abstract socket it begins with a zero byte
    kOther,  // a form that gRPC alone knows: "dns:...", "ipv4:..."
  };
  Kind kind = Kind::kOther;
  std::string host;
  std::string port;
  std::string path;
};

// Reads "host:port", "[::1]:port", "unix:path", "unix-abstract:name", or a URI of gRPC.
// INVALID_ARGUMENT for a URL ("http://..."), and for a host without a port; it shows the address
// that was probably meant.
absl::StatusOr<ServerAddress> ParseServerAddress(const std::string& text);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_REACH_SERVER_ADDRESS_H_
