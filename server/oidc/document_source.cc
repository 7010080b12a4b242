#include "server/oidc/document_source.h"

#include <curl/curl.h>

#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace epsledger::oidc {
namespace {

constexpr long kFetchSeconds = 10;

// Returns the part of a URL; empty if the text is not a URL or has no such part.
std::string PartOf(const std::string& url, CURLUPart part) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  char* text = nullptr;
  if (parsed == nullptr || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), part, &text, 0) != CURLUE_OK) {
    return "";
  }
  std::string result(text);
  curl_free(text);
  return result;
}

size_t Append(char* data, size_t size, size_t count, void* to) {
  auto* const text = static_cast<std::string*>(to);
  if (text->size() + size * count > DocumentSource::kMaxBytes) return 0;  // ends the transfer
  text->append(data, size * count);
  return size * count;
}

int IsToEnd(void* stopping, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<const std::atomic<bool>*>(stopping) ? 1 : 0;
}

}  // namespace

absl::StatusOr<DocumentSource> DocumentSource::Of(const std::string& flag,
                                                  const std::string& place) {
  if (!absl::StrContains(place, "://")) return DocumentSource(place, /*is_url=*/false);
  const std::string scheme = PartOf(place, CURLUPART_SCHEME);
  const std::string host = PartOf(place, CURLUPART_HOST);
  const bool is_here = host == "127.0.0.1" || host == "[::1]" || host == "localhost";
  if (scheme == "https" || (scheme == "http" && is_here)) {
    return DocumentSource(place, /*is_url=*/true);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      flag, ": got ", place, ", want a file or an https URL: who can change it says who calls"));
}

absl::StatusOr<std::string> DocumentSource::ReadFile() const {
  std::ifstream in(place_, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return absl::UnavailableError(place_ + ": cannot be read");
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxBytes) {
    return absl::UnavailableError(absl::StrCat(place_, ": is longer than ", kMaxBytes, " bytes"));
  }
  return text;
}

absl::StatusOr<std::string> DocumentSource::Fetch(const std::atomic<bool>& stopping) const {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (curl == nullptr) return absl::UnavailableError("out of memory");
  std::string text;
  curl_easy_setopt(curl.get(), CURLOPT_URL, place_.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, kFetchSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &text);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, &IsToEnd);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &stopping);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK) {
    return absl::UnavailableError(absl::StrCat(place_, ": ", curl_easy_strerror(code)));
  }
  long answer = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer);
  if (answer != 200) return absl::UnavailableError(absl::StrCat(place_, ": answered ", answer));
  return text;
}

absl::StatusOr<std::string> DocumentSource::Read(const std::atomic<bool>& stopping) const {
  return is_url_ ? Fetch(stopping) : ReadFile();
}

}  // namespace epsledger::oidc
