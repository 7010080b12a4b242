#ifndef EPSLEDGER_SERVER_OIDC_DOCUMENT_SOURCE_H_
#define EPSLEDGER_SERVER_OIDC_DOCUMENT_SOURCE_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::oidc {

// A small document in a file or behind a URL.
class DocumentSource {
 public:
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // Returns INVALID_ARGUMENT, naming `flag`, for a URL that is not https; http is allowed for this
  // machine only. Anything without "://" is a path.
  static absl::StatusOr<DocumentSource> Of(const std::string& flag, const std::string& place);

  // Returns the present content. UNAVAILABLE if it cannot be read, is longer than kMaxBytes, or
  // `stopping` became true. Follows no redirection. Takes at most 10 s.
  absl::StatusOr<std::string> Read(const std::atomic<bool>& stopping) const;

  bool is_url() const { return is_url_; }
  const std::string& place() const { return place_; }

 private:
  DocumentSource(std::string place, bool is_url) : place_(std::move(place)), is_url_(is_url) {}

  absl::StatusOr<std::string> ReadFile() const;
  absl::StatusOr<std::string> Fetch(const std::atomic<bool>& stopping) const;

  std::string place_;
  bool is_url_;
};

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_SERVER_OIDC_DOCUMENT_SOURCE_H_
