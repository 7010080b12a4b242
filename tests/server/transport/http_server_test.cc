// The HTTP listener as clients meet it: over real sockets, good manners and bad.

#include "server/transport/http/http_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "prometheus/registry.h"
#include "server/metrics/observed_ledger.h"
#include "server/transport/http/operations_routes.h"
#include "tests/server/storage/waiting_client.h"
#include "tests/server/transport/http_exchange.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Answers with what it was asked.
std::unique_ptr<HttpServer> EchoServer() {
  auto server = HttpServer::Start({.addresses = {"127.0.0.1:0"}}, [](const HttpRequest& request,
                                                                     HttpReply reply) {
    std::move(reply)(
        {200, {}, request.method + " " + request.path + " " + request.query + " " + request.body});
  });
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

TEST(HttpServer, ReadsMethodPathQueryAndBody) {
  const auto server = EchoServer();
  const std::string& address = server->addresses()[0];
  EXPECT_THAT(Get(address, "/a%20b?x=1"), HasSubstr("\r\n\r\nGET /a b x=1 "));
  EXPECT_THAT(
      Exchange(address,
               "POST /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n"
               "hello"),
      HasSubstr("POST /p  hello"));
}

TEST(HttpServer, TakesAPathThatIsWrittenInOneWayOnly) {
  const auto server = EchoServer();
  const std::string& address = server->addresses()[0];
  // What a filter of paths before the server would let through.
  for (const char* target : {"/%6detrics", "/v1%2fbudgets", "/v1%2Fbudgets", "/%2e%2e/metrics",
                             "/a%25b", "/%7Ea", "/x/%2E", "/%6Detrics?x=1"}) {
    const std::string answer = Get(address, target);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << target;
    EXPECT_THAT(answer, HasSubstr("without '%'")) << target;
  }
  EXPECT_THAT(Get(address, "/a%20b%3ac%C3%A4?x=%6d"), HasSubstr("GET /a b:c\xc3\xa4 x=%6d "));
}

TEST(HttpServer, AnswersSeveralRequestsOfOneConnectionInOrder) {
  const auto server = EchoServer();
  const std::string request = "GET /one HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string last = "GET /two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const std::string answer = Exchange(server->addresses()[0], request + last);
  EXPECT_LT(answer.find("GET /one"), answer.find("GET /two"));
  EXPECT_NE(answer.find("GET /two"), answer.npos);
}

TEST(HttpServer, HeadHasTheHeadersAlone) {
  const auto server = EchoServer();
  const std::string answer = Get(server->addresses()[0], "/x", "HEAD");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(answer.find("GET /x"), answer.npos);
}

TEST(HttpServer, RefusesWhatIsNoRequestOrTooLarge) {
  const auto server = EchoServer();
  const std::string& address = server->addresses()[0];
  EXPECT_THAT(Exchange(address, "GARBAGE\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Exchange(address, std::string("\x16\x03\x01\x02\x00\r\n\r\n", 9)),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Get(address, "/%zz"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Get(address, "/%00"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Get(address, "http://else.where/x"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Exchange(address, "GET / HTTP/1.1\r\nHost: " + std::string(20'000, 'a') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Exchange(address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Get(address, "/still-there"), HasSubstr("/still-there"));
}

TEST(HttpServer, TellsThoseWhoAreTooSlowAndLetsGoOfThoseWhoSayNothing) {
  const auto server =
      HttpServer::Start({.addresses = {"127.0.0.1:0"}, .patience = std::chrono::seconds(1)},
                        [](const HttpRequest&, HttpReply reply) {
                          std::move(reply)({200, {}, "never"});
                        });
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string& address = (*server)->addresses()[0];
  for (const char* begun :
       {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel", "GET / HTTP/1.1\r\nHo"}) {
    const std::string answer = Exchange(address, begun);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 408")) << begun;
    EXPECT_THAT(answer, HasSubstr("the request did not arrive in time"));
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
  }
  EXPECT_EQ(Exchange(address, ""), "");
}

TEST(HttpServer, ClosesAtOnceWhatOnePeerOpensTooFast) {
  const auto answered = [](double rate, int connections) {
    auto server =
        HttpServer::Start({.addresses = {"127.0.0.1:0"}, .peer_connections_per_second = rate},
                          [](const HttpRequest&, HttpReply reply) {
                            std::move(reply)({200, {}, "here"});
                          });
    int count = 0;
    for (int i = 0; i < connections; ++i) {
      if (!Get((*server)->addresses()[0], "/").empty()) ++count;
    }
    return count;
  };
  EXPECT_EQ(answered(1e-6, 1030), 1024);
  // A client that makes a connection for each of its requests is served.
  EXPECT_EQ(answered(0, 2000), 2000);
}

// A proxy that takes headers out sees no trailers.
TEST(HttpServer, TakesNoHeaderFromATrailer) {
  auto server = HttpServer::Start({.addresses = {"127.0.0.1:0"}}, [](const HttpRequest& request,
                                                                     HttpReply reply) {
    std::move(reply)({200,
                      {},
                      std::string("caller=") + std::string(request.Header("authorization")) +
                          " first=" + std::string(request.Header("x-first")) + " " + request.body});
  });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(Exchange((*server)->addresses()[0],
                       "POST / HTTP/1.1\r\nHost: x\r\nX-First: 1\r\nConnection: close\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
                       "Authorization: Bearer stolen\r\nX-First: 2\r\n\r\n"),
              HasSubstr("caller= first=1 hello"));
}

// Those that came first and send nothing leave for those that come.
TEST(HttpServer, SilentConnectionsKeepNobodyOut) {
  const auto server = EchoServer();
  const std::string& address = server->addresses()[0];
  const size_t colon = address.rfind(':');
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &at.sin_addr);
  std::vector<int> silent;
  for (int i = 0; i < 700; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0) << i;
    const std::string_view begun = "GET / HTTP/1.1\r\nHo";
    if (i % 2 == 0) send(fd, begun.data(), begun.size(), MSG_NOSIGNAL);
    silent.push_back(fd);
    if (i > 500 && i % 50 == 0) {
      EXPECT_THAT(Get(address, "/x"), HasSubstr("GET /x")) << i;
    }
  }
  EXPECT_THAT(Get(address, "/x"), HasSubstr("GET /x"));
  for (const int fd : silent) close(fd);
}

TEST(HttpServer, AnswersWhenAHandlerLetsGoOfItsReply) {
  auto server =
      HttpServer::Start({.addresses = {"127.0.0.1:0"}}, [](const HttpRequest&, HttpReply) {});
  ASSERT_TRUE(server.ok());
  EXPECT_THAT(Get((*server)->addresses()[0], "/"), StartsWith("HTTP/1.1 500"));
}

TEST(HttpServer, TakesAnswersFromOtherThreads) {
  std::thread other;
  auto server =
      HttpServer::Start({.addresses = {"127.0.0.1:0"}}, [&](const HttpRequest&, HttpReply reply) {
        other = std::thread([reply = std::move(reply)]() mutable {
          std::move(reply)({200, {}, "from afar"});
        });
      });
  ASSERT_TRUE(server.ok());
  EXPECT_THAT(Get((*server)->addresses()[0], "/"), HasSubstr("from afar"));
  other.join();
}

TEST(HttpServer, TakesAnAnswerAfterItsEnd) {
  HttpReply late;
  absl::Notification asked;
  auto server =
      HttpServer::Start({.addresses = {"127.0.0.1:0"}}, [&](const HttpRequest&, HttpReply reply) {
        late = std::move(reply);
        asked.Notify();
      });
  ASSERT_TRUE(server.ok());
  std::thread client([address = (*server)->addresses()[0]] { EXPECT_EQ(Get(address, "/"), ""); });
  asked.WaitForNotification();
  server->reset();
  std::move(late)({200, {}, "too late"});  // nobody is there any more; nothing breaks
  late = nullptr;
  client.join();
}

// Whoever does not ask for HTTP gets a server that lets go of its handler all the same.
TEST(HttpServer, WithoutAnAddressLetsGoOfItsHandler) {
  const auto held = std::make_shared<int>(1);
  auto server = HttpServer::Start({}, [held](const HttpRequest&, HttpReply) {});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(held.use_count(), 2);
  server->reset();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(HttpServer, NamesAnAddressThatItCannotUse) {
  const auto handler = [](const HttpRequest&, HttpReply) {};
  EXPECT_EQ(HttpServer::Start({.addresses = {"nowhere"}}, handler).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(HttpServer::Start({.addresses = {"example.org:80"}}, handler).status().code(),
            absl::StatusCode::kInvalidArgument);
  const auto server = EchoServer();
  EXPECT_EQ(HttpServer::Start({.addresses = {server->addresses()[0]}}, handler).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(OperationsRoutes, CountWhatTheLedgerDecided) {
  TestServer grpc;
  const auto registry = std::make_shared<prometheus::Registry>();
  metrics::ObservedLedger observed(*grpc.ledger, registry);
  auto server =
      HttpServer::Start({.addresses = {"127.0.0.1:0"}},
                        OperationsRoutes(observed, registry, grpc.server->in_process().probe_wire));
  ASSERT_TRUE(server.ok());
  const std::string& address = (*server)->addresses()[0];
  grpc.client.MakeSession("pure_epsilon { epsilon: 1 }");

  WaitingClient client(observed);
  for (const char* id : {"fits", "does-not"}) {
    ASSERT_TRUE(client.Charge({"b", "s"}, 1, id, accounting::PureDp{0.75}).ok());
  }
  const std::string text = Get(address, "/metrics");
  EXPECT_THAT(text, HasSubstr("epsledger_charges_total{decision=\"accepted\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("epsledger_charges_total{decision=\"refused\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("epsledger_refusals_total{reason=\"BUDGET_EXHAUSTED\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("epsledger_command_seconds_count{command=\"charge\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("epsledger_budget_spent_ratio{tenant=\"\",budget=\"b\"} 0.75"));
  EXPECT_THAT(text, HasSubstr("epsledger_budget_leased_ratio{tenant=\"\",budget=\"b\"} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("epsledger_budget_state{tenant=\"\",budget=\"b\",state=\"ACTIVE\"} 1"));
  EXPECT_THAT(text, HasSubstr("epsledger_commands_in_flight 0\n"));
  EXPECT_THAT(text, HasSubstr("epsledger_ledgers_quarantined 0\n"));
  EXPECT_THAT(text, HasSubstr("epsledger_ready 1\n"));
  EXPECT_THAT(Get(address, "/healthz"), HasSubstr("ok\n"));
  EXPECT_THAT(Get(address, "/readyz"), HasSubstr("ready\n"));
  EXPECT_THAT(Get(address, "/secret"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Get(address, "/metrics", "DELETE"), StartsWith("HTTP/1.1 405"));
  // A ledger that is well is not enough: nobody reaches it.
  grpc.server->Drain(absl::ZeroDuration());
  EXPECT_THAT(Get(address, "/healthz"), HasSubstr("ok\n"));
  const std::string unready = Get(address, "/readyz");
  EXPECT_THAT(unready, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(unready, HasSubstr(grpc.server->addresses()[0] + ": cannot be connected to"));
}

}  // namespace
}  // namespace epsledger::transport
