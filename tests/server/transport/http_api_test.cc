// The API over HTTP, against a real server on real sockets: the Connect protocol, bookmarkable
// reads, log-in, and the document that describes them.

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "server/access/access_control.h"
#include "server/transport/http/http_routes.h"
#include "server/transport/http/http_server.h"
#include "server/transport/http/json_answer.h"
#include "server/transport/http/openapi.h"
#include "server/transport/http/rest_routes.h"
#include "tests/server/storage/waiting_client.h"
#include "tests/server/transport/good_requests.h"
#include "tests/server/transport/http_exchange.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string body;
  Json json() const { return Json::parse(body, nullptr, false); }
};

HttpAnswer Split(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  EXPECT_NE(end, answer.npos) << answer;
  if (end == answer.npos) return {};
  return {.status = std::stoi(answer.substr(9, 3)),
          .head = answer.substr(0, end),
          .body = answer.substr(end + 4)};
}

// Whoever stops the server has HTTP drained first: what calls the channel of a server that has
// stopped crashes in gRPC.
TEST(RpcGateway, DrainsWhileItsCallersGoOn) {
  TestServer server;
  ASSERT_TRUE(server.client.CreateBudget("b", "pure_epsilon { epsilon: 1 }").ok());
  RpcGateway gateway(server.server->in_process());
  const auto* method = RpcGateway::FindUnaryMethod("epsledger.v1.BudgetService.GetBudget");
  ASSERT_NE(method, nullptr);
  v1::GetBudgetRequest request;
  request.set_name("budgets/b");
  std::atomic<int> answered = 0;
  std::atomic<int> after_drain = 0;
  std::atomic<bool> drained = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      // Until refused, and then a few times more.
      for (int refused = 0; refused < 50;) {
        absl::Notification done;
        gateway.Call(*method, request, {}, absl::Seconds(30),
                     [&](const grpc::Status& status, std::unique_ptr<google::protobuf::Message>) {
                       if (status.ok()) {
                         ++answered;
                         EXPECT_FALSE(drained);
                       } else {
                         EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
                         ++refused;
                         after_drain += drained ? 1 : 0;
                       }
                       done.Notify();
                     });
        done.WaitForNotification();
      }
    });
  }
  while (answered < 100) std::this_thread::yield();
  gateway.Drain(absl::Seconds(30));
  drained = true;
  server.server->Drain(absl::Seconds(30));
  EXPECT_EQ(gateway
                .Open(*v1::GetBudgetRequest::descriptor()
                           ->file()
                           ->FindServiceByName("BudgetService")
                           ->FindMethodByName("WatchBudget"),
                      request, {})
                ->status()
                .error_code(),
            grpc::StatusCode::UNAVAILABLE);
  for (std::thread& caller : callers) caller.join();
}

class HttpApi : public testing::Test {
 protected:
  explicit HttpApi(bool require_tokens = false)
      : server_({.addresses = {"127.0.0.1:0"}, .require_tokens = require_tokens}),
        routes_(*server_.ledger, std::make_shared<prometheus::Registry>(),
                server_.server->in_process()),
        http_(*HttpServer::Start({.addresses = {"127.0.0.1:0"}}, routes_.handler())) {}

  HttpAnswer Ask(const std::string& method, const std::string& target, const std::string& headers,
                 const std::string& body = "") {
    return Split(Exchange(
        http_->addresses()[0],
        absl::StrCat(method, " ", target, " HTTP/1.1\r\nHost: x\r\n", headers,
                     "Content-Length: ", body.size(), "\r\nConnection: close\r\n\r\n", body)));
  }
  HttpAnswer Read(const std::string& target, const std::string& headers = "") {
    return Ask("GET", target, headers);
  }
  HttpAnswer Call(const std::string& method, const std::string& body,
                  const std::string& headers = "") {
    return Ask("POST", absl::StrCat("/epsledger.v1.", method),
               absl::StrCat("Content-Type: application/json\r\n", headers), body);
  }

  TestServer server_;
  HttpRoutes routes_;
  std::unique_ptr<HttpServer> http_;
};

TEST_F(HttpApi, ChargesByConnectAsByGrpc) {
  EXPECT_EQ(Call("BudgetService/CreateBudget",
                 R"({"budgetId": "b", "budget": {"cap": {"pureEpsilon": {"epsilon": 2}},
                     "neighboringRelation": "ADD_OR_REMOVE_ONE", "privacyUnit": "person"}})")
                .status,
            200);
  EXPECT_EQ(Call("SessionService/CreateSession",
                 R"({"parent": "budgets/b", "sessionId": "s", "session": {"mode": "ADAPTIVE",
                     "neighboringRelation": "ADD_OR_REMOVE_ONE", "noOwnCap": true}})")
                .status,
            200);
  EXPECT_EQ(Call("SessionService/OpenAttempt", R"({"session": "budgets/b/sessions/s"})").status,
            200);
  const std::string charge =
      R"({"attempt": "budgets/b/sessions/s/attempts/1", "chargeId": "step-1",
          "event": {"pureDp": {"epsilon": 1.5}}, "count": "1"})";
  const HttpAnswer accepted = Call("ChargeService/Charge", charge);
  EXPECT_EQ(accepted.status, 200);
  EXPECT_THAT(accepted.head, HasSubstr("Content-Type: application/json"));
  EXPECT_EQ(accepted.json()["decision"], "ACCEPTED");
  // The same key again is the same charge, and gRPC sees it too.
  EXPECT_EQ(Call("ChargeService/Charge", charge).json(), accepted.json());
  EXPECT_EQ(server_.client.GetSession("budgets/b/sessions/s").response.accepted_charge_count(), 1);

  const HttpAnswer refused =
      Call("ChargeService/Charge",
           R"({"attempt": "budgets/b/sessions/s/attempts/1", "chargeId": "step-2",
          "event": {"pureDp": {"epsilon": 1.5}}, "count": 1})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.json()["code"], "failed_precondition");
  const Json detail = refused.json()["details"][0];
  EXPECT_EQ(detail["type"], "google.rpc.ErrorInfo");
  EXPECT_EQ(detail["debug"]["reason"], "BUDGET_EXHAUSTED");
  EXPECT_EQ(detail["debug"]["metadata"]["limitingResource"], "budgets/b");
  EXPECT_THAT(detail["value"].get<std::string>(), Not(HasSubstr("=")));
}

// Every unary method is there, and takes the request that gRPC takes.
TEST_F(HttpApi, HasEveryUnaryMethod) {
  EXPECT_GE(RpcGateway::UnaryMethods().size(), 30u);
  for (const google::protobuf::MethodDescriptor* method : RpcGateway::UnaryMethods()) {
    const HttpAnswer answer =
        Call(absl::StrCat(method->service()->name(), "/", method->name()), "{}");
    EXPECT_NE(answer.status, 404 * (answer.json()["code"] == "unimplemented"))
        << method->full_name();
    EXPECT_TRUE(answer.status == 200 || answer.json().contains("code")) << answer.body;
  }
}

TEST_F(HttpApi, RefusesWhatIsNoCall) {
  const auto code = [this](const std::string& method, const std::string& target,
                           const std::string& headers, const std::string& body) {
    return Ask(method, target, headers, body).status;
  };
  const std::string json = "Content-Type: application/json\r\n";
  const std::string get_budget = "/epsledger.v1.BudgetService/GetBudget";
  EXPECT_EQ(code("POST", "/epsledger.v1.BudgetService/Nothing", json, "{}"), 404);
  EXPECT_EQ(code("POST", "/epsledger.v1.BudgetService/WatchBudget", json, "{}"), 404);
  EXPECT_EQ(code("POST", "/epsledger.v1.BudgetService.GetBudget", json, "{}"), 404);
  EXPECT_EQ(code("GET", get_budget, json, ""), 405);
  EXPECT_EQ(code("POST", get_budget, "Content-Type: text/plain\r\n", "{}"), 415);
  EXPECT_EQ(code("POST", get_budget, "", "{}"), 415);
  EXPECT_EQ(code("POST", get_budget, json + "Connect-Timeout-Ms: soon\r\n", "{}"), 400);
  for (const char* body :
       {"", "[]", "{", R"({"name": 3})", R"({"unknown": 1})", "{\"name\": \"\xff\"}",
        R"({"name": "budgets/b"} more)", R"({"name": "budgets/a", "name": "budgets/b"})",
        R"({name: "budgets/b"})", R"({"name": "budgets/b",})"}) {
    const HttpAnswer answer = Ask("POST", get_budget, json, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.json()["code"], "invalid_argument") << answer.body;
  }
  // A key that is there twice, in either spelling, is no guess of the noise that was meant.
  const HttpAnswer doubled =
      Ask("POST", "/epsledger.v1.ChargeService/Charge", json,
          R"({"event": {"gaussian": {"noiseMultiplier": 4, "noise_multiplier": 40}}})");
  EXPECT_EQ(doubled.status, 400) << doubled.body;
  EXPECT_THAT(doubled.body, HasSubstr("want the key \\\"noise_multiplier\\\" only once"));
  EXPECT_EQ(Ask("POST", get_budget, "Content-Type: Application/JSON; charset=utf-8\r\n",
                R"({"name": "budgets/none"})")
                .json()["code"],
            "not_found");
}

TEST_F(HttpApi, ReadsByGet) {
  server_.client.MakeSession("pure_epsilon { epsilon: 2 }");
  ASSERT_TRUE(server_.client.Charge(kAttempt, "c", kOneEpsilon, 1).ok());
  EXPECT_EQ(Read("/v1/budgets").json()["budgets"][0]["name"], "budgets/b");
  EXPECT_EQ(Read("/v1/budgets/b").json()["cap"]["pureEpsilon"]["epsilon"], 2);
  EXPECT_EQ(Read("/v1/budgets/b/sessions/s").json()["acceptedChargeCount"], "1");
  EXPECT_EQ(Read("/v1/budgets/b/sessions/s/charges?pageSize=10").json()["charges"][0]["decision"],
            "ACCEPTED");
  const Json readings = Read("/v1/budgets/b/guarantees?delta=1e-5").json()["readings"];
  EXPECT_GE(readings.size(), 5u);
  EXPECT_EQ(Read("/v1/budgets/b/sessions/s/trade-off-curve?typeOneErrorRange.first=0&"
                 "typeOneErrorRange.last=1&typeOneErrorRange.count=5&accountant=BEST")
                .status,
            200);
  const Json entries = Read("/v1/budgets/b/entries?afterSequence=1").json()["entries"];
  EXPECT_EQ(entries.front()["sequence"], "2");
  EXPECT_EQ(entries.back()["sequence"], Read("/v1/budgets/b/head").json()["sequence"]);
  EXPECT_EQ(Read("/v1/budgets/none").json()["code"], "not_found");
  ASSERT_EQ(Call("ProposalService/CreateProposal",
                 R"({"parent": "budgets/b", "proposalId": "p",
                     "proposal": {"reason": "done", "close": {}}})")
                .status,
            200);
  EXPECT_EQ(Read("/v1/budgets/b/proposals?pendingOnly=true").json()["proposals"][0]["name"],
            "budgets/b/proposals/p");
  // Every route of the table reaches its method.
  for (const RestRoute& route : RestRoutes()) {
    std::string target = absl::StrReplaceAll(
        route.path, {{"{budget}", "b"}, {"{session}", "s"}, {"{proposal}", "p"}});
    for (const QueryField& field : QueryFields(route)) {
      if (field.name == "delta") target += "?delta=1e-5";
      if (field.name == "epsilons") target += "?epsilons=1&epsilons=2&accountant=BEST";
      if (field.name == "typeOneErrors") target += "?typeOneErrors=0.5&accountant=BEST";
    }
    EXPECT_EQ(Read(target).status, 200) << target << " " << Read(target).body;
  }
}

TEST_F(HttpApi, NamesTheParameterThatIsWrong) {
  ASSERT_TRUE(server_.client.CreateBudget("b", "pure_epsilon { epsilon: 2 }").ok());
  const auto message = [this](const std::string& target) {
    const HttpAnswer answer = Read(target);
    EXPECT_EQ(answer.status, 400) << target;
    return answer.json()["message"].get<std::string>();
  };
  EXPECT_THAT(message("/v1/budgets?page=1"), AllOf(HasSubstr("page: is not known here"),
                                                   HasSubstr("pageSize, pageToken, format")));
  EXPECT_THAT(message("/v1/budgets?pageSize=many"), HasSubstr("many"));
  EXPECT_THAT(message("/v1/budgets?pageSize=1&pageSize=2"), HasSubstr("pageSize: given twice"));
  EXPECT_THAT(message("/v1/budgets?format=xml"), HasSubstr("format: want json or csv"));
  EXPECT_THAT(message("/v1/budgets/b/guarantees"), HasSubstr("delta"));
  EXPECT_THAT(message("/v1/budgets?%zz"), HasSubstr("the query is not one"));
  EXPECT_EQ(Ask("POST", "/v1/budgets", "", "").status, 405);
  EXPECT_EQ(Read("/v1/budgets/").status, 404);
  EXPECT_EQ(Read("/v1/budgets/b/../../etc/passwd").status, 404);
  EXPECT_EQ(Read("/v1/budgets/%2e%2e").json()["code"], "invalid_argument");
  EXPECT_EQ(Read("/v1/nothing").json()["code"], "not_found");
  // Paths and queries that are no UTF-8 are shown as well as that can be.
  for (const char* target : {"/v1/budgets/%ff", "/v1/budgets/%c0%af", "/v1/budgets?pageToken=%ff",
                             "/v1/budgets?%ff=1", "/v1/budgets?format=%ff"}) {
    const HttpAnswer answer = Read(target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_EQ(answer.json()["code"], "invalid_argument") << target << answer.body;
  }
}

TEST_F(HttpApi, SpeaksCsv) {
  ASSERT_TRUE(
      server_.client
          .CreateBudget("b", "pure_epsilon { epsilon: 2 }", "display_name: '=HYPERLINK(1), \"x\"'")
          .ok());
  ASSERT_TRUE(server_.client.CreateBudget("c", "zcdp { rho: 0.5 }").ok());
  const HttpAnswer answer = Read("/v1/budgets?format=csv");
  EXPECT_THAT(answer.head, HasSubstr("text/csv"));
  EXPECT_THAT(answer.body, StartsWith("name,"));
  EXPECT_THAT(answer.body, HasSubstr("cap.pureEpsilon.epsilon"));
  EXPECT_THAT(answer.body, HasSubstr("cap.zcdp.rho"));
  EXPECT_THAT(answer.body, HasSubstr("\"'=HYPERLINK(1), \"\"x\"\"\""));
  EXPECT_EQ(std::count(answer.body.begin(), answer.body.end(), '\n'), 3);
  EXPECT_EQ(Read("/v1/budgets", "Accept: text/csv\r\n").body, answer.body);
  // Without rows there are columns all the same.
  EXPECT_THAT(Read("/v1/budgets/b/refusals?format=csv").body,
              AllOf(StartsWith("name,"), EndsWith("\r\n")));
}

TEST_F(HttpApi, DescribesItself) {
  const HttpAnswer answer = Read("/openapi.json");
  ASSERT_EQ(answer.status, 200);
  const Json document = answer.json();
  EXPECT_EQ(document["openapi"], "3.1.0");
  for (const RestRoute& route : RestRoutes()) EXPECT_TRUE(document["paths"].contains(route.path));
  EXPECT_TRUE(document["paths"].contains("/epsledger.v1.ChargeService/Charge"));
  // Every reference leads somewhere, every operation has a name of its own.
  std::set<std::string> operations;
  const std::function<void(const Json&)> walk = [&](const Json& node) {
    if (node.is_object()) {
      if (node.contains("$ref")) {
        EXPECT_TRUE(
            document.contains(Json::json_pointer(node["$ref"].get<std::string>().substr(1))))
            << node["$ref"];
      }
      if (node.contains("operationId")) {
        EXPECT_TRUE(operations.insert(node["operationId"].get<std::string>()).second);
      }
    }
    if (node.is_structured()) {
      for (const Json& inner : node) walk(inner);
    }
  };
  walk(document);
  EXPECT_GE(operations.size(), 50u);
}

class HttpApiWithTokens : public HttpApi {
 protected:
  HttpApiWithTokens() : HttpApi(true) {}

  // "epsledger_token=..." of an answer that sets it.
  static std::string CookieIn(const HttpAnswer& answer) {
    const std::string set = "set-cookie: ";
    const size_t begin = answer.head.find(set) + set.size();
    return answer.head.substr(begin, answer.head.find(';', begin) - begin);
  }
  // The secret of a new token.
  std::string NewToken(core::Role role, const core::Tenant& tenant = {},
                       const std::vector<core::Grant>& grants = {}) {
    const absl::Time now = absl::Now();
    absl::StatusOr<access::NewToken> draft =
        access::DraftToken(tenant, role, "test", now + absl::Hours(1), now, grants);
    EXPECT_TRUE(draft.ok()) << draft.status();
    EXPECT_TRUE(WaitingClient(*server_.ledger, absl::ToUnixMicros(now))
                    .Run(core::AccessCommand{core::CreateToken{.spec = draft->token.spec,
                                                               .grants = draft->token.grants}})
                    .ok());
    return draft->secret;
  }
};

TEST_F(HttpApiWithTokens, AsksForATokenAndHoldsItToItsRole) {
  const std::string viewer = NewToken(core::Role::kViewer);
  const HttpAnswer nobody = Read("/v1/budgets");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_THAT(nobody.head, HasSubstr("www-authenticate: Bearer"));
  const HttpAnswer known = Read("/v1/budgets", "Authorization: Bearer " + viewer + "\r\n");
  EXPECT_EQ(known.status, 200) << known.body;
  EXPECT_EQ(Read("/v1/budgets", "Authorization: Bearer " + viewer + "x\r\n").status, 401);
  // No byte in it ends the server.
  for (int byte = 1; byte < 256; ++byte) {
    if (byte == '\r' || byte == '\n') continue;
    const std::string odd(1, static_cast<char>(byte));
    for (const std::string& value : {"Bearer" + odd + viewer + "x", "Bearer x" + odd + "y", odd}) {
      const int status = Read("/v1/budgets", "Authorization: " + value + "\r\n").status;
      EXPECT_TRUE(status == 401 || status == 400) << byte << " " << status;
    }
  }
  EXPECT_EQ(Read("/v1/budgets", "Authorization: Bearer\t" + viewer + "\r\n").status, 401);
  EXPECT_EQ(Read("/v1/events", "Authorization: Bearer \xc3\xa9\r\n").status, 401);
  // Two of them are none, in whatever order, as over gRPC.
  const std::string good = "Authorization: Bearer " + viewer + "\r\n";
  for (const std::string& other :
       {good, std::string("Authorization: Bearer x\r\n"), std::string("authorization:\r\n")}) {
    EXPECT_EQ(Read("/v1/budgets", good + other).status, 401) << other;
    EXPECT_EQ(Read("/v1/budgets", other + good).status, 401) << other;
  }
  EXPECT_EQ(Call("BudgetService/CreateBudget", R"({"budgetId": "b"})",
                 "Authorization: Bearer " + viewer + "\r\n")
                .status,
            403);
  // A header that only the server itself may set does not come from outside.
  EXPECT_EQ(Read("/v1/budgets", "epsledger-in-process-pass: x\r\n").status, 401);
  EXPECT_EQ(Read("/v1/events").status, 401);
  EXPECT_EQ(Read("/healthz").status, 200);
}

TEST_F(HttpApiWithTokens, MetricsAreOfTheCallersTenant) {
  const auto header = [](const std::string& secret) {
    return "Authorization: Bearer " + secret + "\r\n";
  };
  const std::string acme = header(NewToken(core::Role::kAdmin, core::Tenant{"acme"}));
  const std::string rival = header(NewToken(core::Role::kAdmin, core::Tenant{"rival"}));
  const auto make_budget = [&](const std::string& id, const std::string& headers) {
    EXPECT_EQ(
        Call("BudgetService/CreateBudget",
             "{\"budgetId\": \"" + id + R"(", "budget": {"cap": {"pureEpsilon": {"epsilon": 2}},
                     "neighboringRelation": "ADD_OR_REMOVE_ONE", "privacyUnit": "person"}})",
             headers)
            .status,
        200);
  };
  make_budget("people", acme);
  make_budget("secret-plans", rival);
  make_budget("more-plans", rival);

  EXPECT_EQ(Read("/metrics").status, 401);
  EXPECT_EQ(Read("/metrics", header("epsl_wrong")).status, 401);
  const HttpAnswer seen = Read("/metrics", acme);
  EXPECT_EQ(seen.status, 200);
  EXPECT_THAT(seen.body,
              HasSubstr("epsledger_budget_spent_ratio{tenant=\"acme\",budget=\"people\"} 0\n"));
  EXPECT_THAT(seen.body, HasSubstr("epsledger_budgets 1\n"));
  EXPECT_THAT(seen.body, HasSubstr("epsledger_ready 1\n"));
  EXPECT_THAT(seen.body, Not(HasSubstr("rival")));
  EXPECT_THAT(seen.body, Not(HasSubstr("plans")));
  EXPECT_THAT(Read("/metrics", rival).body, HasSubstr("epsledger_budgets 2\n"));

  const HttpAnswer limited =
      Read("/metrics",
           header(NewToken(core::Role::kAdmin, core::Tenant{"rival"}, {{"more-plans", "", {}}})));
  EXPECT_EQ(limited.status, 403);
  EXPECT_THAT(limited.body, HasSubstr("limited to a part"));
  EXPECT_THAT(limited.body, Not(HasSubstr("secret-plans")));
}

TEST_F(HttpApiWithTokens, KeepsALoginInACookieThatOtherSitesCannotUse) {
  const std::string secret = NewToken(core::Role::kViewer);
  EXPECT_EQ(Ask("POST", "/v1/login", "", R"({"token": "wrong"})").status, 401);
  EXPECT_EQ(Ask("POST", "/v1/login", "", "{\"token\": \"a\\r\\nset-cookie: x\"}").status, 400);
  EXPECT_EQ(Ask("POST", "/v1/login", "", "token").status, 400);
  EXPECT_EQ(Ask("GET", "/v1/login", "").status, 405);
  const HttpAnswer in =
      Ask("POST", "/v1/login", "", absl::StrCat(R"({"token": ")", secret, R"("})"));
  ASSERT_EQ(in.status, 200);
  EXPECT_EQ(in.json()["role"], "VIEWER");
  EXPECT_THAT(in.head, HasSubstr("; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200\r\n"));
  const std::string cookie = "Cookie: a=b; " + CookieIn(in) + "\r\n";
  EXPECT_THAT(cookie, Not(HasSubstr(secret)));
  EXPECT_EQ(Read("/v1/budgets", cookie).status, 200);
  EXPECT_EQ(Read("/v1/caller", cookie).json()["principal"], in.json()["principal"]);
  EXPECT_EQ(Read("/v1/budgets", cookie + "Sec-Fetch-Site: same-origin\r\n").status, 200);
  EXPECT_EQ(Read("/v1/budgets", cookie + "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_THAT(Ask("POST", "/v1/logout", cookie).head, HasSubstr("epsledger_token=; "));
  // Whoever has a copy of the cookie comes in no more; who has the token does.
  EXPECT_EQ(Read("/v1/budgets", cookie).status, 401);
  const std::string header = "Authorization: Bearer " + secret + "\r\n";
  EXPECT_EQ(Read("/v1/budgets", header).status, 200);
  // A logout without a login, and with the token itself, ends nothing.
  EXPECT_EQ(Ask("POST", "/v1/logout", "").status, 200);
  EXPECT_EQ(Ask("POST", "/v1/logout", header).status, 200);
  EXPECT_EQ(Read("/v1/budgets", header).status, 200);
}

TEST_F(HttpApiWithTokens, ALoginEndsWithItsTokenAndMakesNoOther) {
  const std::string secret = NewToken(core::Role::kTrainer);
  const std::string body = absl::StrCat(R"({"token": ")", secret, R"("})");
  const HttpAnswer first = Ask("POST", "/v1/login", "", body);
  const HttpAnswer second = Ask("POST", "/v1/login", "", body);
  const std::string cookie = "Cookie: " + CookieIn(first) + "\r\n";
  EXPECT_NE(CookieIn(first), CookieIn(second));
  ASSERT_EQ(Read("/v1/budgets", cookie).status, 200);
  const std::string login = CookieIn(first).substr(CookieIn(first).find('=') + 1);
  const HttpAnswer again =
      Ask("POST", "/v1/login", "", absl::StrCat(R"({"token": ")", login, R"("})"));
  EXPECT_EQ(again.status, 400);
  EXPECT_THAT(again.body, HasSubstr("a login has no login"));
  const std::string name = first.json()["principal"];
  ASSERT_TRUE(WaitingClient(*server_.ledger)
                  .Run(core::AccessCommand{
                      core::RevokeToken{core::Tenant{}, name.substr(name.find('/') + 1)}})
                  .ok());
  EXPECT_EQ(Read("/v1/budgets", cookie).status, 401);
  EXPECT_EQ(Read("/v1/budgets", "Cookie: " + CookieIn(second) + "\r\n").status, 401);
  EXPECT_EQ(Ask("POST", "/v1/login", "", body).status, 401);
}

TEST_F(HttpApiWithTokens, LoginsOfATokenComeNoFasterThanPeopleLogIn) {
  const std::string body = absl::StrCat(R"({"token": ")", NewToken(core::Role::kViewer), R"("})");
  std::string oldest;
  int made = 0;
  HttpAnswer refused;
  for (int i = 0; i < 30; ++i) {
    const HttpAnswer answer = Ask("POST", "/v1/login", "", body);
    made += answer.status == 200;
    if (i == 0) oldest = "Cookie: " + CookieIn(answer) + "\r\n";
    if (answer.status != 200) refused = answer;
  }
  EXPECT_GE(made, 20);
  EXPECT_LE(made, 25);
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("too many logins"));
}

TEST_F(HttpApi, PagesOfOthersChangeNothingAndDoNotBorrowTheAddress) {
  const std::string create = "/epsledger.v1.BudgetService/CreateBudget";
  const std::string budget =
      R"({"budgetId": "other", "budget": {"cap": {"pureEpsilon": {"epsilon": 1}},)"
      R"( "neighboringRelation": "ADD_OR_REMOVE_ONE", "privacyUnit": "person"}})";
  for (const char* site : {"cross-site", "same-site"}) {
    const std::string header =
        absl::StrCat("Content-Type: application/json\r\nSec-Fetch-Site: ", site, "\r\n");
    const HttpAnswer answer = Ask("POST", create, header, budget);
    EXPECT_EQ(answer.status, 403);
    EXPECT_THAT(answer.body, HasSubstr("a page of another site may not send this request"));
    EXPECT_EQ(Ask("POST", "/v1/login", header, R"({"token": "epsl_x"})").status, 403);
    EXPECT_EQ(Read("/v1/budgets", header).status, 200);
  }
  EXPECT_EQ(Read("/v1/budgets/other").status, 404);
  // A browser that does not say it gives the origin: here the host is "x".
  for (const char* origin :
       {"http://evil", "https://evil", "null", "http://x:8080", "x", "http://"}) {
    const std::string header =
        absl::StrCat("Content-Type: application/json\r\nOrigin: ", origin, "\r\n");
    EXPECT_EQ(Ask("POST", create, header, budget).status, 403) << origin;
    EXPECT_EQ(Ask("POST", "/v1/login", header, R"({"token": "epsl_x"})").status, 403) << origin;
    EXPECT_EQ(Ask("POST", "/v1/logout", header).status, 403) << origin;
  }
  EXPECT_EQ(Read("/v1/budgets/other").status, 404);
  for (const char* own : {"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Origin: http://x",
                          "Origin: https://x", "Sec-Fetch-Site: same-origin\r\nOrigin: http://y"}) {
    const std::string header = absl::StrCat("Content-Type: application/json\r\n", own, "\r\n");
    EXPECT_EQ(Ask("POST", create, header, budget).status, 200) << own;
  }
}

}  // namespace
}  // namespace epsledger::transport
