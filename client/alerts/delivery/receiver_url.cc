#include "client/alerts/delivery/receiver_url.h"

#include <curl/curl.h>

#include <memory>
#include <optional>

#include "client/cpp/address.h"

namespace epsledger::alerts {
namespace {

using ParsedUrl = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::optional<std::string> PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return std::nullopt;
  std::string found(text);
  curl_free(text);
  return found;
}

}  // namespace

absl::StatusOr<ReceiverUrl> ReadReceiverUrl(const std::string& url) {
  const ParsedUrl parsed(curl_url(), &curl_url_cleanup);
  if (parsed == nullptr || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    return absl::InvalidArgumentError("want a URL with a scheme and a host");
  }
  if (PartOf(parsed.get(), CURLUPART_USER).has_value() ||
      PartOf(parsed.get(), CURLUPART_PASSWORD).has_value()) {
    return absl::InvalidArgumentError("want a URL without a user and a password");
  }
  const std::optional<std::string> scheme = PartOf(parsed.get(), CURLUPART_SCHEME);
  const std::optional<std::string> host = PartOf(parsed.get(), CURLUPART_HOST);
  if (!scheme.has_value() || !host.has_value() || host->empty()) {
    return absl::InvalidArgumentError("want a URL with a scheme and a host");
  }
  return ReceiverUrl{.scheme = *scheme, .is_local = IsLocalAddress(*host)};
}

}  // namespace epsledger::alerts
