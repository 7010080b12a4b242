#include "client/cpp/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>
#include <string_view>

namespace epsledger {
namespace {

// Removes ":port"; returns false if the text after the colon is not a port.
bool RemovePort(std::string_view* host) {
  const size_t colon = host->rfind(':');
  if (colon == std::string_view::npos) return true;
  const std::string_view port = host->substr(colon + 1);
  if (port.empty() || port.find_first_not_of("0123456789") != std::string_view::npos) return false;
  host->remove_suffix(port.size() + 1);
  return true;
}

}  // namespace

bool IsLocalAddress(std::string_view address) {
  if (address.starts_with("unix:") || address.starts_with("unix-abstract:")) return true;
  if (address.starts_with("[")) {
    const size_t end = address.find(']');
    if (end == std::string_view::npos) return false;
    std::string_view rest = address.substr(end + 1);
    if (!RemovePort(&rest) || !rest.empty()) return false;
    const std::string host(address.substr(1, end - 1));
    in6_addr parsed{};
    return inet_pton(AF_INET6, host.c_str(), &parsed) == 1 && IN6_IS_ADDR_LOOPBACK(&parsed);
  }
  std::string_view host = address;
  if (!RemovePort(&host)) return false;
  if (host == "localhost") return true;
  in_addr parsed{};
  return inet_pton(AF_INET, std::string(host).c_str(), &parsed) == 1 &&
         (ntohl(parsed.s_addr) >> 24) == 127;
}

}  // namespace epsledger
