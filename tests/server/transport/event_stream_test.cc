// Server-sent events over real sockets: every change once, in order, and without a gap across a
// reconnection.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "boost/asio/buffer.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/write.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "server/access/access_control.h"
#include "server/transport/http/change_positions.h"
#include "server/transport/http/http_routes.h"
#include "server/transport/http/http_server.h"
#include "tests/server/storage/waiting_client.h"
#include "tests/server/transport/http_exchange.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using boost::asio::ip::tcp;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

struct SeenEvent {
  std::string id;
  std::string kind;
  std::string data;
  int64_t sequence() const { return std::stoll(Json::parse(data)["sequence"].get<std::string>()); }
};

// A client of a stream: reads as far as it is asked to, and remembers the last id.
class EventReader {
 public:
  EventReader(const std::string& address, const std::string& target,
              const std::string& headers = "")
      : socket_(context_) {
    const size_t colon = address.rfind(':');
    socket_.connect({boost::asio::ip::make_address(address.substr(0, colon)),
                     static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
    boost::asio::write(socket_, boost::asio::buffer(absl::StrCat(
                                    "GET ", target, " HTTP/1.1\r\nHost: x\r\n", headers, "\r\n")));
    while (raw_.find("\r\n\r\n") == raw_.npos && Receive()) {
    }
    head = raw_.substr(0, raw_.find("\r\n\r\n"));
    raw_.erase(0, head.size() + 4);
  }

  // The next event that is not a bookmark; nothing at the end of the stream.
  std::optional<SeenEvent> Next() {
    for (;;) {
      const size_t end = text_.find("\n\n");
      if (end == text_.npos) {
        if (!Dechunk() && !Receive()) return std::nullopt;
        continue;
      }
      SeenEvent event;
      for (const absl::string_view line : absl::StrSplit(text_.substr(0, end), '\n')) {
        if (absl::StartsWith(line, "id: ")) event.id = std::string(line.substr(4));
        if (absl::StartsWith(line, "event: ")) event.kind = std::string(line.substr(7));
        if (absl::StartsWith(line, "data: ")) event.data = std::string(line.substr(6));
      }
      text_.erase(0, end + 2);
      if (!event.id.empty()) last_id = event.id;
      if (event.kind.empty() || event.kind == "bookmark") continue;
      return event;
    }
  }

  std::string head;
  std::string last_id;

 private:
  // True if a chunk was whole.
  bool Dechunk() {
    const size_t line = raw_.find("\r\n");
    if (line == raw_.npos) return false;
    const size_t size = std::stoul(raw_.substr(0, line), nullptr, 16);
    if (size == 0 || raw_.size() < line + 2 + size + 2) return false;
    text_ += raw_.substr(line + 2, size);
    raw_.erase(0, line + 2 + size + 2);
    return true;
  }

  bool Receive() {
    std::array<char, 65536> bytes;
    boost::system::error_code error;
    const size_t count = socket_.read_some(boost::asio::buffer(bytes), error);
    raw_.append(bytes.data(), count);
    return !error;
  }

  boost::asio::io_context context_;
  tcp::socket socket_;
  std::string raw_;
  std::string text_;
};

// "c7" of the event of that charge.
std::string ChargeOf(const SeenEvent& event) {
  const std::string name = Json::parse(event.data)["charge"]["name"].get<std::string>();
  return name.substr(name.rfind('/') + 1);
}

class EventStream : public testing::Test {
 protected:
  explicit EventStream(bool require_tokens = false)
      : server_({.addresses = {"127.0.0.1:0"}, .require_tokens = require_tokens}),
        routes_(*server_.ledger, std::make_shared<prometheus::Registry>(),
                server_.server->in_process()),
        http_(*HttpServer::Start({.addresses = {"127.0.0.1:0"}}, routes_.handler())) {}

  const std::string& address() const { return http_->addresses()[0]; }
  EventReader Open(const std::string& target, const std::string& headers = "") {
    return EventReader(address(), target, headers);
  }
  void Charge(int first, int last) {
    for (int i = first; i <= last; ++i) {
      ASSERT_TRUE(
          server_.client.Charge(kAttempt, absl::StrCat("c", i), "pure_dp { epsilon: 1e-9 }", 1)
              .ok());
    }
  }

  TestServer server_;
  HttpRoutes routes_;
  std::unique_ptr<HttpServer> http_;
};

TEST_F(EventStream, TellsEveryChangeOnceInOrderAndResumesWithoutAGap) {
  server_.client.MakeSession("pure_epsilon { epsilon: 2 }");
  // Sequence numbers of entries that are nobody's to see are skipped.
  std::vector<int64_t> seen;
  std::vector<std::string> charges;
  std::string last_id;
  {
    EventReader reader = Open("/v1/events?budget=b&after=0");
    EXPECT_THAT(reader.head, HasSubstr("text/event-stream"));
    Charge(1, 40);
    std::optional<SeenEvent> event;
    while ((event = reader.Next()).has_value()) {
      seen.push_back(event->sequence());
      if (event->kind == "charge") charges.push_back(ChargeOf(*event));
      if (!charges.empty() && charges.back() == "c40") break;
    }
    EXPECT_EQ(Json::parse(event->data)["watched"], "budgets/b");
    EXPECT_EQ(event->id, absl::StrCat("budgets/b:", seen.back()));
    last_id = reader.last_id;
  }
  Charge(41, 80);
  EventReader reader = Open("/v1/events?budget=b", "Last-Event-ID: " + last_id + "\r\n");
  Charge(81, 100);
  for (std::optional<SeenEvent> event; (event = reader.Next()).has_value();) {
    seen.push_back(event->sequence());
    if (event->kind == "charge") charges.push_back(ChargeOf(*event));
    if (!charges.empty() && charges.back() == "c100") break;
  }
  EXPECT_EQ(seen.front(), 1);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_GT(seen[i], seen[i - 1]);
  std::vector<std::string> all;
  for (int i = 1; i <= 100; ++i) all.push_back(absl::StrCat("c", i));
  EXPECT_EQ(charges, all);
}

// More than the window holds: the client catches up by itself, and meets the others.
TEST_F(EventStream, TellsAClientThatIsFarBehindEverything) {
  server_.client.MakeSession("pure_epsilon { epsilon: 2 }");
  EventReader newest = Open("/v1/events?budget=b");
  constexpr int kBatches = 6;
  constexpr int kBatch = 1000;
  for (int b = 0; b < kBatches; ++b) {
    v1::BatchChargeRequest request;
    request.set_attempt(kAttempt);
    request.set_mode(v1::BatchChargeRequest::ALL_OR_NOTHING);
    for (int i = 0; i < kBatch; ++i) {
      v1::BatchChargeItem* item = request.add_items();
      item->set_charge_id(absl::StrCat("c", b, "-", i));
      item->mutable_event()->mutable_pure_dp()->set_epsilon(1e-9);
      item->set_count(1);
    }
    ASSERT_TRUE(
        TestClient::Call(*server_.client.charges, &v1::ChargeService::Stub::BatchCharge, request)
            .ok());
  }
  const std::string last = absl::StrCat("c", kBatches - 1, "-", kBatch - 1);
  const auto charges_up_to_last = [&](EventReader& reader) {
    std::vector<std::string> charges;
    while (charges.empty() || charges.back() != last) {
      const std::optional<SeenEvent> event = reader.Next();
      if (!event.has_value()) break;
      if (event->kind == "charge") charges.push_back(ChargeOf(*event));
    }
    return charges;
  };
  std::vector<std::string> all;
  for (int b = 0; b < kBatches; ++b) {
    for (int i = 0; i < kBatch; ++i) all.push_back(absl::StrCat("c", b, "-", i));
  }
  EXPECT_EQ(charges_up_to_last(newest), all);
  // What came before the window went by.
  EventReader late = Open("/v1/events?budget=b&after=0");
  EXPECT_EQ(charges_up_to_last(late), all);
}

TEST_F(EventStream, FollowsBudgetsThatAreMadeLater) {
  ASSERT_TRUE(server_.client.CreateBudget("a", "pure_epsilon { epsilon: 2 }").ok());
  EventReader reader = Open("/v1/events");
  ASSERT_TRUE(server_.client.CreateBudget("later", "pure_epsilon { epsilon: 2 }").ok());
  const std::optional<SeenEvent> event = reader.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, "budget");
  EXPECT_EQ(Json::parse(event->data)["budget"]["name"], "budgets/later");
  const absl::StatusOr<ChangePositions> positions = ReadEventId(event->id);
  ASSERT_TRUE(positions.ok());
  EXPECT_THAT(*positions,
              testing::ElementsAre(testing::Key("budgets/a"), testing::Key("budgets/later")));
}

// One commit after another, faster than budgets are listed: none is missed.
TEST_F(EventStream, FollowsEachOfManyBudgetsThatAreMadeLater) {
  EventReader reader = Open("/v1/events");
  std::set<std::string> made;
  for (int i = 0; i < 20; ++i) {
    const std::string id = absl::StrCat("b", i);
    ASSERT_TRUE(server_.client.CreateBudget(id, "pure_epsilon { epsilon: 2 }").ok());
    made.insert("budgets/" + id);
  }
  std::set<std::string> told;
  while (told.size() < made.size()) {
    const std::optional<SeenEvent> event = reader.Next();
    ASSERT_TRUE(event.has_value());
    ASSERT_EQ(event->kind, "budget");
    EXPECT_TRUE(told.insert(Json::parse(event->data)["budget"]["name"]).second);
  }
  EXPECT_EQ(told, made);
}

TEST_F(EventStream, FollowsBudgetsThatWereMadeWhileTheClientWasAway) {
  ASSERT_TRUE(server_.client.CreateBudget("a", "pure_epsilon { epsilon: 2 }").ok());
  std::string last_id;
  {
    EventReader reader = Open("/v1/events?after=0");
    ASSERT_TRUE(reader.Next().has_value());
    last_id = reader.last_id;
  }
  ASSERT_TRUE(server_.client.CreateBudget("meanwhile", "pure_epsilon { epsilon: 2 }").ok());
  EventReader reader = Open("/v1/events", "Last-Event-ID: " + last_id + "\r\n");
  const std::optional<SeenEvent> event = reader.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, "budget");
  EXPECT_EQ(Json::parse(event->data)["budget"]["name"], "budgets/meanwhile");
}

TEST_F(EventStream, WatchesASessionAlone) {
  server_.client.MakeSession("pure_epsilon { epsilon: 2 }");
  ASSERT_TRUE(server_.client.CreateSession("b", "other").ok());
  ASSERT_TRUE(server_.client.OpenAttempt("budgets/b/sessions/other").ok());
  EventReader reader = Open("/v1/events?session=budgets/b/sessions/s");
  ASSERT_TRUE(
      server_.client.Charge("budgets/b/sessions/other/attempts/1", "c", kOneEpsilon, 1).ok());
  Charge(1, 1);
  const std::optional<SeenEvent> event = reader.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_THAT(event->data, HasSubstr("budgets/b/sessions/s/attempts/1/charges/c1"));
}

TEST_F(EventStream, SaysWhyThereIsNothingToTell) {
  EXPECT_THAT(Get(address(), "/v1/events?budget=none"), StartsWith("HTTP/1.1 404"));
  EventReader reader = Open("/v1/events?budget=none&after=0");
  const std::optional<SeenEvent> event = reader.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, "end");
  EXPECT_EQ(Json::parse(event->data)["code"], "not_found");
  EXPECT_FALSE(reader.Next().has_value());
  for (const char* bad :
       {"?x=1", "?after=-1", "?after=soon", "?lastEventId=12", "?lastEventId=a:1,a:2"}) {
    EXPECT_THAT(Get(address(), absl::StrCat("/v1/events", bad)), StartsWith("HTTP/1.1 400")) << bad;
  }
  EXPECT_THAT(Get(address(), "/v1/events", "POST"), StartsWith("HTTP/1.1 405"));
}

class EventStreamWithTokens : public EventStream {
 protected:
  EventStreamWithTokens() : EventStream(true) {}
};

TEST_F(EventStreamWithTokens, EndsWithTheToken) {
  WaitingClient ledger(*server_.ledger, absl::ToUnixMicros(absl::Now()));
  ASSERT_TRUE(ledger.CreateBudget("b", 1).ok());
  const auto token = access::DraftToken(core::Tenant{}, core::Role::kViewer, "test",
                                        absl::Now() + absl::Hours(1), absl::Now());
  ASSERT_TRUE(token.ok());
  ASSERT_TRUE(ledger.Run(core::AccessCommand{core::CreateToken{.spec = token->token.spec}}).ok());
  EventReader reader =
      Open("/v1/events?budget=b", "Authorization: Bearer " + token->secret + "\r\n");
  EXPECT_THAT(reader.head, StartsWith("HTTP/1.1 200"));
  ASSERT_TRUE(
      ledger.Run(core::AccessCommand{core::RevokeToken{core::Tenant{}, token->token.spec.id}})
          .ok());
  const std::optional<SeenEvent> event = reader.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, "end");
  EXPECT_EQ(Json::parse(event->data)["code"], "unauthenticated");
  EXPECT_FALSE(reader.Next().has_value());
}

// Those who watch one resource share what is read of it: but not with those who may not.
TEST_F(EventStreamWithTokens, TellsOfWhatIsGranted) {
  WaitingClient ledger(*server_.ledger, absl::ToUnixMicros(absl::Now()));
  for (const char* budget : {"a", "b"}) ASSERT_TRUE(ledger.CreateBudget(budget, 1).ok());
  const auto header = [&](const std::vector<core::Grant>& grants) {
    const auto token = access::DraftToken(core::Tenant{}, core::Role::kViewer, "test",
                                          absl::Now() + absl::Hours(1), absl::Now(), grants);
    EXPECT_TRUE(token.ok());
    EXPECT_TRUE(ledger
                    .Run(core::AccessCommand{core::CreateToken{.spec = token->token.spec,
                                                               .grants = token->token.grants}})
                    .ok());
    return "Authorization: Bearer " + token->secret + "\r\n";
  };
  const std::string limited = header({{"a", "", {}}});
  EventReader whole = Open("/v1/events?budget=b&after=0", header({}));
  ASSERT_TRUE(whole.Next().has_value());
  EventReader outside = Open("/v1/events?budget=b&after=0", limited);
  const std::optional<SeenEvent> end = outside.Next();
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->kind, "end");
  EXPECT_EQ(Json::parse(end->data)["code"], "not_found");
  EventReader all = Open("/v1/events?after=0", limited);
  const std::optional<SeenEvent> first = all.Next();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(Json::parse(first->data)["budget"]["name"], "budgets/a");
  const absl::StatusOr<ChangePositions> positions = ReadEventId(first->id);
  ASSERT_TRUE(positions.ok());
  EXPECT_THAT(*positions, testing::ElementsAre(testing::Key("budgets/a")));
}

// The grant is older than the budget.
TEST_F(EventStreamWithTokens, FollowsAGrantedBudgetThatIsMadeLater) {
  WaitingClient ledger(*server_.ledger, absl::ToUnixMicros(absl::Now()));
  const auto token =
      access::DraftToken(core::Tenant{}, core::Role::kViewer, "test", absl::Now() + absl::Hours(1),
                         absl::Now(), {{"granted", "", {}}});
  ASSERT_TRUE(token.ok());
  ASSERT_TRUE(ledger
                  .Run(core::AccessCommand{
                      core::CreateToken{.spec = token->token.spec, .grants = token->token.grants}})
                  .ok());
  EventReader reader = Open("/v1/events", "Authorization: Bearer " + token->secret + "\r\n");
  EXPECT_THAT(reader.head, StartsWith("HTTP/1.1 200"));
  WaitingClient stranger(*server_.ledger, 0, {.name = "stranger"});
  ASSERT_TRUE(stranger.CreateBudget("granted", 1).ok());  // of another tenant
  ASSERT_TRUE(ledger.CreateBudget("other", 1).ok());
  ASSERT_TRUE(ledger.CreateBudget("granted", 1).ok());
  const std::optional<SeenEvent> event = reader.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, "budget");
  EXPECT_EQ(Json::parse(event->data)["budget"]["name"], "budgets/granted");
  const absl::StatusOr<ChangePositions> positions = ReadEventId(event->id);
  ASSERT_TRUE(positions.ok());
  EXPECT_THAT(*positions, testing::ElementsAre(testing::Key("budgets/granted")));
}

TEST(ChangePositions, SurviveTheWayThroughAnId) {
  const ChangePositions positions = {{"budgets/a", 0}, {"budgets/b/sessions/s", int64_t{1} << 53}};
  EXPECT_EQ(*ReadEventId(ToEventId(positions)), positions);
  EXPECT_TRUE(ReadEventId("")->empty());
  for (const char* bad : {"a", ":1", "a:", "a:-1", "a:1.5", "a:99999999999999999999"}) {
    EXPECT_FALSE(ReadEventId(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace epsledger::transport
