#include "server/transport/http/host_check.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace epsledger::transport {
namespace {

bool IsIp4(absl::string_view host) {
  const std::vector<absl::string_view> parts = absl::StrSplit(host, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
           uint32_t value = 0;
           return !part.empty() && part.size() <= 3 && absl::ascii_isdigit(part[0]) &&
                  absl::SimpleAtoi(part, &value) && value < 256;
         });
}

bool IsOurName(absl::string_view host_header, const std::vector<std::string>& names) {
  absl::string_view host = host_header;
  if (absl::ConsumePrefix(&host, "[")) return absl::StrContains(host, ':');  // IP version 6
  host = host.substr(0, host.find(':'));
  absl::ConsumeSuffix(&host, ".");
  if (!absl::StrContains(host, '.') || IsIp4(host)) return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return absl::EqualsIgnoreCase(name, host); });
}

}  // namespace

bool IsMeantForUs(const HttpRequest& request, const std::vector<std::string>& names) {
  const std::string_view host = request.Header("host");
  // Browsers always send the host.
  return request.tls || host.empty() || IsOurName({host.data(), host.size()}, names);
}

bool IsFromAnotherSite(const HttpRequest& request) {
  const std::string_view site = request.Header("sec-fetch-site");
  if (!site.empty()) return site != "same-origin" && site != "none";
  // Browsers without Sec-Fetch-Site send the origin of a page with requests other than GET.
  const std::string_view origin = request.Header("origin");
  if (origin.empty()) return false;
  // Ignores the scheme: a proxy in front may speak TLS.
  const size_t scheme = origin.find("://");
  return scheme == origin.npos || origin.substr(scheme + 3) != request.Header("host");
}

}  // namespace epsledger::transport
