#include "client/cli/reach/await_server.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cli/reach/server_probe.h"

namespace epsledger::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kNothingSentType[] = "epsledger.dev/nothing-was-sent";
constexpr milliseconds kFirstWait{50};
constexpr milliseconds kLongestWait{1'000};
// One try to connect takes no longer.
constexpr milliseconds kConnectPatience{10'000};

// gRPC looks at these, in this order, for calls with TLS; those without go directly.
bool HasProxy() {
  for (const char* name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

absl::Status NothingSent(const absl::Status& reason, const std::string& server) {
  absl::Status status = absl::UnavailableError(absl::StrCat(
      "no server at ", server, " (", std::string(reason.message()),
      "), and nothing was sent: start epsledgerd, or give its address with --server."));
  status.SetPayload(kNothingSentType, absl::Cord("1"));
  return status;
}

}  // namespace

absl::StatusOr<milliseconds> AwaitServer(const ServerAddress& address, bool with_tls,
                                         milliseconds timeout, const std::string& server,
                                         RetryNotice& notice) {
  if (address.kind == ServerAddress::Kind::kOther || (with_tls && HasProxy())) return timeout;
  const auto deadline = steady_clock::now() + timeout;
  milliseconds left = timeout;
  milliseconds wait = kFirstWait;
  for (bool is_first = true;; is_first = false) {
    const absl::StatusOr<Speech> speech =
        ProbeServer(address, with_tls, std::min(left, kConnectPatience));
    left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (speech.ok()) {
      const absl::Status status = CheckSpeech(*speech, with_tls, server);
      if (!status.ok()) return status;
      return is_first ? timeout : std::max(left, milliseconds{1});
    }
    if (wait >= left) return NothingSent(speech.status(), server);
    notice.Tell(speech.status(), left);
    std::this_thread::sleep_for(wait);
    left -= wait;
    wait = std::min(2 * wait, kLongestWait);
  }
}

bool IsNothingSent(const absl::Status& status) {
  return status.GetPayload(kNothingSentType).has_value();
}

}  // namespace epsledger::cli
