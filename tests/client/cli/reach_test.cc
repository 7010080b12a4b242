// What epsctl says when no server is there, or one that speaks something else.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/epsctl.h"
#include "client/cli/failure_text.h"
#include "client/cli/reach/await_server.h"
#include "client/cli/reach/retry_notice.h"
#include "client/cli/reach/server_address.h"
#include "client/cli/reach/server_probe.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kPatience{60'000};

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port of this machine that is taken and at which nobody listens until Listen.
class Port {
 public:
  Port() : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    number_ = ntohs(address.sin_port);
  }
  ~Port() { close(descriptor_); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  void Listen() const { EXPECT_EQ(listen(descriptor_, 16), 0); }
  int descriptor() const { return descriptor_; }
  std::string address() const { return absl::StrCat("127.0.0.1:", number_); }

 private:
  int descriptor_;
  int number_ = 0;
};

// A server that says one thing to everybody who greets it, and hangs up.
class Parrot {
 public:
  explicit Parrot(std::string words) : words_(std::move(words)) {
    port_.Listen();
    thread_ = std::thread([this] {
      while (true) {
        const int caller = accept(port_.descriptor(), nullptr, nullptr);
        if (caller < 0) return;
        char greeting[4096];
        [[maybe_unused]] const auto heard = recv(caller, greeting, sizeof(greeting), 0);
        [[maybe_unused]] const auto said = send(caller, words_.data(), words_.size(), MSG_NOSIGNAL);
        close(caller);
      }
    });
  }
  ~Parrot() {
    shutdown(port_.descriptor(), SHUT_RDWR);
    thread_.join();
  }
  std::string address() const { return port_.address(); }

 private:
  Port port_;
  const std::string words_;
  std::thread thread_;
};

const char kHttpWords[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
std::string TlsWords() { return std::string("\x15\3\3\0\2\2\x28", 7); }  // a fatal alert

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome RunEpsctl(const std::vector<std::string>& arguments) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{.in = in, .out = out, .err = err};
  const ExitCode code = RunEpsctl(arguments, terminal);
  return {code, out.str(), err.str()};
}

std::vector<std::string> Create(const std::string& server, const std::string& timeout,
                                const std::string& rho = "1") {
  return {"--server", server, "--timeout",  timeout,       "budget",         "create", "b",
          "--rho",    rho,    "--relation", "replace-one", "--privacy-unit", "x"};
}

ServerAddress AddressOf(const std::string& text) {
  const absl::StatusOr<ServerAddress> address = ParseServerAddress(text);
  EXPECT_TRUE(address.ok()) << address.status();
  return address.value_or(ServerAddress());
}

TEST(ServerAddress, IsAHostWithAPortOrASocket) {
  EXPECT_EQ(AddressOf("localhost:50551").host, "localhost");
  EXPECT_EQ(AddressOf("localhost:50551").port, "50551");
  EXPECT_EQ(AddressOf("[::1]:7").host, "::1");
  EXPECT_EQ(AddressOf("[::1]:7").port, "7");
  EXPECT_EQ(AddressOf("unix:a/b").path, "a/b");
  EXPECT_EQ(AddressOf("unix:///a/b").path, "/a/b");
  EXPECT_EQ(AddressOf("unix-abstract:a").path, std::string("\0a", 2));
  EXPECT_EQ(AddressOf("dns:///host").kind, ServerAddress::Kind::kOther);
}

TEST(ServerAddress, ShowsWhatWasProbablyMeant) {
  for (const auto& [got, want] : std::vector<std::pair<std::string, std::string>>{
           {"http://127.0.0.1:50551", "without http://, as 127.0.0.1:50551"},
           {"https://host:50551/ui/", "without https://, as host:50551, with --tls"},
           {"127.0.0.1", "as 127.0.0.1:50551"},
           {"host:", "want host:port"},
           {"host:0", "want host:port"},
           {"host:70000", "want host:port"},
           {":50551", "want host:port"},
           {"::1", "as [::1]:50551"},
           {"[::1", "want [address]:port"},
           {"", "want host:port"}}) {
    const absl::StatusOr<ServerAddress> address = ParseServerAddress(got);
    EXPECT_TRUE(absl::IsInvalidArgument(address.status())) << got;
    EXPECT_THAT(std::string(address.status().message()),
                AllOf(StartsWith(absl::StrCat("--server: got \"", got, "\"")), HasSubstr(want)));
  }
}

TEST(ServerProbe, HearsWhatAServerSpeaksHoweverItIsGreeted) {
  const FakeLedger ledger;
  const Parrot http(kHttpWords);
  const Parrot tls(TlsWords());
  const Parrot mute("");
  for (const bool with_tls : {false, true}) {
    const auto speech = [with_tls](const std::string& server) {
      return ProbeServer(AddressOf(server), with_tls, kPatience).value();
    };
    EXPECT_EQ(speech(ledger.address()), Speech::kHttp2) << with_tls;
    EXPECT_EQ(speech(http.address()), Speech::kHttp1) << with_tls;
    EXPECT_EQ(speech(tls.address()), Speech::kTls) << with_tls;
    EXPECT_EQ(speech(mute.address()), Speech::kUnknown) << with_tls;
  }
}

TEST(ServerProbe, TellsWhyThereIsNoConnection) {
  const Port nobody;
  const auto refused = ProbeServer(AddressOf(nobody.address()), false, kPatience);
  EXPECT_TRUE(absl::IsUnavailable(refused.status()));
  EXPECT_EQ(refused.status().message(), "Connection refused");
  const auto absent = ProbeServer(AddressOf("unix:no-such-socket"), false, kPatience);
  EXPECT_EQ(absent.status().message(), "No such file or directory");
}

// A stream buffer that does something once, at the first line that reaches it.
class Trigger : public std::stringbuf {
 public:
  explicit Trigger(std::function<void()> action) : action_(std::move(action)) {}

 protected:
  int sync() override {
    if (action_) std::exchange(action_, nullptr)();
    return 0;
  }

 private:
  std::function<void()> action_;
};

TEST(AwaitServer, SaysAtOnceThatItWaitsAndGoesOnWhenTheServerIsThere) {
  const Port port;
  std::unique_ptr<std::thread> greeter;
  Trigger trigger([&] {
    port.Listen();
    greeter = std::make_unique<std::thread>([&port] {
      const int caller = accept(port.descriptor(), nullptr, nullptr);
      close(caller);
      close(accept(port.descriptor(), nullptr, nullptr));  // the other greeting
    });
  });
  std::istringstream in;
  std::ostringstream out;
  std::ostream err(&trigger);
  Terminal terminal{.in = in, .out = out, .err = err};
  RetryNotice notice(terminal, port.address());
  const auto left =
      AwaitServer(AddressOf(port.address()), false, kPatience, port.address(), notice);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_LT(*left, kPatience);
  greeter->join();
  EXPECT_EQ(trigger.str(), absl::StrCat("epsctl: no answer from ", port.address(),
                                        " (Connection refused): trying again for 60 s\n"));
}

TEST(Reach, WithoutAServerNothingWasSentAndTheReasonIsToldAtOnce) {
  const Port nobody;
  for (const std::string& server : {nobody.address(), std::string("unix:no-such-socket")}) {
    const std::vector<std::string> read = {"--server", server, "--timeout", "1", "budget", "list"};
    for (const std::vector<std::string>& command : {read, Create(server, "1s")}) {
      const Outcome outcome = RunEpsctl(command);
      EXPECT_EQ(outcome.code, ExitCode::kFailed);
      EXPECT_THAT(outcome.out, IsEmpty());
      EXPECT_THAT(outcome.err, AllOf(StartsWith(absl::StrCat("epsctl: no answer from ", server)),
                                     HasSubstr("trying again for 1 s\n"),
                                     HasSubstr("nothing was sent"), HasSubstr("--server")));
    }
  }
}

TEST(Reach, ValuesAreCheckedBeforeAServerIsAwaited) {
  const Port nobody;
  const auto error = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--server", nobody.address(), "--timeout", "24h"});
    const Outcome outcome = RunEpsctl(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  const std::vector<std::string> rest = {"--relation", "replace-one", "--privacy-unit", "x"};
  for (const auto& [flags, want] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--epsilon", "-3", "--delta", "1e-5"}, "--epsilon: got -3, want in (0, inf)"},
           {{"--epsilon", "nan", "--delta", "1e-5"}, "--epsilon: got nan, want in (0, inf)"},
           {{"--epsilon", "1", "--delta", "1"}, "--delta: got 1, want in (0, 1)"},
           {{"--rho", "0"}, "--rho: got 0, want in (0, inf)"},
           {{"--renyi-order", "1", "--renyi-divergence", "1"}, "--renyi-order: got 1, want in (1,"},
           {{"--units", "0", "--delta", "1e-5"}, "--units: got 0, want 1 or more"}}) {
    std::vector<std::string> arguments = {"budget", "create", "b"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    EXPECT_THAT(error(arguments), HasSubstr(want));
  }
  EXPECT_THAT(error({"charge", "create", "a/b", "--attempt", "1", "--gaussian", "-1"}),
              HasSubstr("event.gaussian.noiseMultiplier: got -1, want in [0, inf)"));
  EXPECT_THAT(error({"charge", "preview", "a/b", "--gaussian", "1", "--count", "0"}),
              HasSubstr("count: got 0"));
  EXPECT_THAT(error({"charge", "create", "a/b", "--gaussian", "1"}), HasSubstr("--attempt"));
}

TEST(Reach, WhatTheServerDoesNotSpeakIsOneSentence) {
  const FakeLedger ledger;
  const Parrot http(kHttpWords);
  const Parrot tls(TlsWords());
  const auto error = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--timeout", "24h", "budget", "list"});
    const Outcome outcome = RunEpsctl(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(error({"--server", ledger.address(), "--tls"}),
              HasSubstr(absl::StrCat(ledger.address(), " speaks plaintext; leave out --tls")));
  EXPECT_THAT(error({"--server", tls.address()}), HasSubstr("speaks TLS; add --tls"));
  EXPECT_THAT(error({"--server", http.address()}), HasSubstr("speaks HTTP/1"));
  EXPECT_THAT(error({"--server", http.address(), "--tls"}), HasSubstr("speaks HTTP/1"));
  EXPECT_THAT(error({"--server", "http://127.0.0.1:8080"}), HasSubstr("as 127.0.0.1:8080"));
}

TEST(Reach, AFurtherTryOfACallIsTold) {
  FakeLedger ledger;
  ASSERT_EQ(RunEpsctl(Create(ledger.address(), "60s")).err, "");
  ledger.Script({Fault::kUnavailable});
  const Outcome outcome = RunEpsctl({"--server", ledger.address(), "charge", "create", "b/run",
                                     "--attempt", "1", "--gaussian", "1"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("epsctl: no answer from "), HasSubstr("trying again")));
}

TEST(FailureText, SaysWhatTlsWants) {
  const auto text = [](const std::string& last_error) {
    return FailureText(
        absl::UnavailableError("failed to connect to all addresses; last error: UNKNOWN: "
                               "ipv4:127.0.0.1:1: " +
                               last_error),
        CallKind::kRead, "host:1");
  };
  EXPECT_THAT(text("Ssl handshake failed: SSL_ERROR_SSL: error:0A000086:SSL routines::certificate "
                   "verify failed"),
              StartsWith("no TLS with host:1 (certificate verify failed): want --tls-ca "));
  EXPECT_THAT(text("Cannot check peer: missing selected ALPN property."),
              StartsWith("no gRPC from host:1, which speaks TLS and not HTTP/2"));
}

TEST(PlainReason, LeavesOutWhatOnlyGrpcWantsToKnow) {
  EXPECT_EQ(PlainReason(absl::UnavailableError(
                "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed "
                "to connect to remote host: Connection refused")),
            "Connection refused");
  EXPECT_EQ(PlainReason(absl::UnavailableError("the queue is full")), "the queue is full");
  EXPECT_EQ(PlainReason(absl::DeadlineExceededError("")), "DEADLINE_EXCEEDED");
}

}  // namespace
}  // namespace epsledger::cli
