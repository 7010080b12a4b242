#include "client/cli/reach/retry_notice.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/cli/print/sentence.h"

namespace epsledger::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kTellAgain{5};
constexpr std::chrono::hours kLongerThanAnyCall{48};

bool Contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace

bool IsTlsRefusal(const absl::Status& status) {
  const std::string message(status.message());
  return absl::IsUnavailable(status) &&
         (Contains(message, "handshake failed: SSL_ERROR_SSL") ||
          Contains(message, "Hostname Verification Check failed") ||
          Contains(message, "Peer name") || Contains(message, "Cannot check peer"));
}

std::string PlainReason(const absl::Status& status) {
  const std::string message(status.message());
  const std::string routines = "SSL routines::";
  if (const size_t start = message.rfind(routines); start != message.npos) {
    return message.substr(start + routines.size());
  }
  for (const char* before : {"Failed to connect to remote host: ", "last error: UNKNOWN: ",
                             "last error: INTERNAL: ", "last error: UNAVAILABLE: "}) {
    const size_t start = message.find(before);
    if (start != message.npos) return message.substr(start + std::string(before).size());
  }
  if (!message.empty()) return message;
  return std::string(absl::StatusCodeToString(status.code()));
}

void RetryNotice::Tell(const absl::Status& last, std::chrono::nanoseconds left) {
  absl::MutexLock lock(&mutex_);
  if (IsTlsRefusal(last)) {
    ++hopeless_count_;
    return;
  }
  const auto now = steady_clock::now();
  const std::string reason = PlainReason(last);
  if (told_ == reason && told_time_.has_value() && now - *told_time_ < kTellAgain) return;
  told_ = reason;
  told_time_ = now;
  const auto seconds = std::llround(std::ceil(std::chrono::duration<double>(left).count()));
  PrintSentence(terminal_.err, absl::StrCat("no answer from ", server_, " (", reason,
                                            "): trying again for ", seconds, " s"));
}

// Each failure without hope ends the time of the call that met it.
steady_clock::time_point RetryNotice::Now() const {
  absl::MutexLock lock(&mutex_);
  return steady_clock::now() + hopeless_count_ * kLongerThanAnyCall;
}

void RetryNotice::Attach(const std::shared_ptr<RetryNotice>& notice, RetryOptions* options) {
  options->on_wait = [notice](const RetryWait& wait) { notice->Tell(wait.last, wait.left); };
  options->now = [notice] { return notice->Now(); };
}

}  // namespace epsledger::cli
