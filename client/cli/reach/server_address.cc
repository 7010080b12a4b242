#include "client/cli/reach/server_address.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace epsledger::cli {
namespace {

constexpr char kUsualPort[] = "50551";

absl::Status Wrong(const std::string& got, const std::string& want) {
  return absl::InvalidArgumentError(absl::StrCat("--server: got \"", got, "\", want ", want));
}

bool IsPort(const std::string& text) {
  int port = 0;
  return absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65'535;
}

absl::StatusOr<ServerAddress> HostAndPort(const std::string& text, const std::string& host,
                                          const std::string& rest) {
  if (rest.size() > 1 && rest[0] == ':' && IsPort(rest.substr(1)) && !host.empty()) {
    ServerAddress address;
    address.kind = ServerAddress::Kind::kHost;
    address.host = host;
    address.port = rest.substr(1);
    return address;
  }
  if (!rest.empty()) return Wrong(text, "host:port, with a port in [1, 65535]");
  return Wrong(text, absl::StrCat("host:port, as ", text, ":", kUsualPort));
}

}  // namespace

absl::StatusOr<ServerAddress> ParseServerAddress(const std::string& text) {
  for (const char* scheme : {"http://", "https://", "grpc://", "grpcs://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::string host = text.substr(std::string(scheme).size());
    const bool is_tls = std::string(scheme).ends_with("s://");
    return Wrong(text, absl::StrCat("host:port without ", scheme, ", as ",
                                    host.substr(0, host.find('/')), is_tls ? ", with --tls" : ""));
  }
  ServerAddress address;
  if (text.starts_with("unix:")) {
    address.kind = ServerAddress::Kind::kUnix;
    address.path = text.substr(text.starts_with("unix://") ? 7 : 5);
    return address;
  }
  if (text.starts_with("unix-abstract:")) {
    address.kind = ServerAddress::Kind::kUnix;
    address.path = std::string(1, '\0') + text.substr(14);
    return address;
  }
  for (const char* scheme : {"dns:", "ipv4:", "ipv6:", "vsock:", "xds:"}) {
    if (text.starts_with(scheme)) return address;
  }
  if (text.empty()) return Wrong(text, "host:port or unix:path");
  if (text[0] == '[') {
    const size_t end = text.find(']');
    if (end == text.npos) return Wrong(text, "[address]:port");
    return HostAndPort(text, text.substr(1, end - 1), text.substr(end + 1));
  }
  if (std::count(text.begin(), text.end(), ':') > 1) {
    return Wrong(text, absl::StrCat("[address]:port for IPv6, as [", text, "]:", kUsualPort));
  }
  const size_t colon = std::min(text.find(':'), text.size());
  return HostAndPort(text, text.substr(0, colon), text.substr(colon));
}

}  // namespace epsledger::cli
