// StreamCharges on a real server: order, window, what ends a stream and what does not.

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "boost/asio/buffer.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/read.hpp"
#include "boost/asio/write.hpp"
#include "gtest/gtest.h"
#include "server/transport/grpc/limits.h"
#include "tests/fuzz/http2_frames.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using Stream = grpc::ClientReaderWriter<v1::ChargeRequest, v1::ChargeResult>;

v1::ChargeRequest Request(const std::string& id, const std::string& event = kOneEpsilon) {
  return Parse<v1::ChargeRequest>("attempt: '" + std::string(kAttempt) + "' charge_id: '" + id +
                                  "' event { " + event + " } count: 1");
}

std::string ChargeNamed(const std::string& id) { return std::string(kAttempt) + "/charges/" + id; }

// One stream of a client, which fails after 250 seconds.
class OpenStream {
 public:
  explicit OpenStream(TestClient& client) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(250));
    stream_ = client.charges->StreamCharges(&context_);
  }

  bool Write(const v1::ChargeRequest& request) { return stream_->Write(request); }
  v1::ChargeResult Read() {
    v1::ChargeResult result;
    EXPECT_TRUE(stream_->Read(&result));
    return result;
  }
  void HalfClose() {
    if (!half_closed_) stream_->WritesDone();
    half_closed_ = true;
  }
  // What the stream ends with, now that everything was read.
  grpc::Status End() {
    HalfClose();
    v1::ChargeResult result;
    EXPECT_FALSE(stream_->Read(&result)) << result.ShortDebugString();
    return stream_->Finish();
  }
  void Cancel() { context_.TryCancel(); }
  Stream& raw() { return *stream_; }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  bool half_closed_ = false;
};

// A ledger that holds back its replies until it is told to let go.
class HeldLedger : public core::DurableLedger {
 public:
  explicit HeldLedger(core::DurableLedger& ledger) : ledger_(ledger) {}
  ~HeldLedger() override { LetGo(); }

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override {
    ledger_.Submit(std::move(tenant), std::move(command),
                   [this, reply = std::move(reply)](absl::StatusOr<core::Outcome> o) mutable {
                     {
                       absl::MutexLock lock(&mutex_);
                       if (holding_) {
                         held_.push_back({std::move(reply), std::move(o)});
                         return;
                       }
                     }
                     std::move(reply)(std::move(o));
                   });
  }
  void Read(core::Tenant tenant, ReadFunction read) override {
    ledger_.Read(std::move(tenant), std::move(read));
  }
  std::shared_ptr<const core::TokenTable> Tokens() const override { return ledger_.Tokens(); }
  absl::Status Health() const override { return ledger_.Health(); }

  void Hold() {
    absl::MutexLock lock(&mutex_);
    holding_ = true;
  }
  void AwaitHeld(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto reached = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return held_.size() >= count;
    };
    mutex_.Await(absl::Condition(&reached));
  }
  size_t held() {
    absl::MutexLock lock(&mutex_);
    return held_.size();
  }
  // In reverse: results are in the order of the requests all the same.
  void LetGo() {
    std::vector<Held> held;
    {
      absl::MutexLock lock(&mutex_);
      holding_ = false;
      held.swap(held_);
    }
    for (auto it = held.rbegin(); it != held.rend(); ++it) {
      std::move(it->reply)(std::move(it->outcome));
    }
  }

 private:
  struct Held {
    Reply reply;
    absl::StatusOr<core::Outcome> outcome;
  };
  core::DurableLedger& ledger_;
  absl::Mutex mutex_;
  bool holding_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Held> held_ ABSL_GUARDED_BY(mutex_);
};

class HeldServer {
 public:
  HeldServer()
      : held(*inner_.ledger),
        server(*Server::Start({.addresses = {"127.0.0.1:0"}}, held)),
        client(ChannelTo(*server)) {}

 private:
  TestServer inner_;

 public:
  HeldLedger held;
  std::unique_ptr<Server> server;
  TestClient client;
};

TEST(ChargeStream, AnswersEveryRequestOnceAndInOrder) {
  TestServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 1500 }");
  constexpr int kRequests = 2000;
  OpenStream stream(server.client);
  // A first request, so that the session holds the event: what it does not hold is priced first.
  ASSERT_TRUE(stream.Write(Request("known")));
  ASSERT_TRUE(stream.Read().has_accepted());
  std::thread writer([&stream] {
    for (int i = 0; i < kRequests; ++i) {
      ASSERT_TRUE(stream.Write(Request("c" + std::to_string(i))));
    }
    stream.HalfClose();
  });
  int64_t last_sequence = 0;
  for (int i = 0; i < kRequests; ++i) {
    const v1::ChargeResult result = stream.Read();
    ASSERT_FALSE(result.has_error()) << result.ShortDebugString();
    ASSERT_EQ(result.has_accepted(), i < 1499);
    const v1::Charge& charge = result.has_accepted() ? result.accepted() : result.refused();
    ASSERT_EQ(charge.name(), ChargeNamed("c" + std::to_string(i)));
    ASSERT_GT(charge.sequence(), last_sequence);
    last_sequence = charge.sequence();
  }
  writer.join();
  v1::ChargeResult more;
  EXPECT_FALSE(stream.raw().Read(&more));
  EXPECT_TRUE(stream.raw().Finish().ok());
  EXPECT_EQ(server.client.GetBudget("budgets/b").response.accepted_charge_count(), 1500);
}

TEST(ChargeStream, GoesOnAfterWhatIsInvalidRefusedOrRepeated) {
  TestServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 2 }");
  OpenStream stream(server.client);
  // A first request, so that the session holds the event: what it does not hold is priced first.
  ASSERT_TRUE(stream.Write(Request("a")));
  const v1::ChargeResult first = stream.Read();
  ASSERT_EQ(first.accepted().name(), ChargeNamed("a"));
  v1::ChargeRequest bad = Request("bad");
  bad.set_count(0);
  v1::ChargeRequest nobody = Request("nobody");
  nobody.set_attempt("budgets/nobody/sessions/s/attempts/1");
  v1::ChargeRequest other = Request("a");
  other.set_count(2);
  v1::ChargeRequest tried = Request("tried");
  tried.set_validate_only(true);
  for (const auto& request : {bad, nobody, other, Request("a"),
                              Request("big", "pure_dp { epsilon: 9 }"), tried, Request("b")}) {
    ASSERT_TRUE(stream.Write(request));
  }
  const v1::ChargeResult invalid = stream.Read();
  EXPECT_EQ(invalid.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(invalid.error().message().rfind("count: got 0", 0), 0u) << invalid.error().message();
  google::rpc::ErrorInfo info;
  ASSERT_GE(invalid.error().details_size(), 1);
  ASSERT_TRUE(invalid.error().details(0).UnpackTo(&info));
  EXPECT_EQ(info.reason(), "INVALID_FIELD");
  EXPECT_EQ(stream.Read().error().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(stream.Read().error().code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(stream.Read().accepted().SerializeAsString(), first.accepted().SerializeAsString());
  const v1::ChargeResult refused = stream.Read();
  EXPECT_EQ(refused.refused().refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED);
  EXPECT_EQ(stream.Read().accepted().sequence(), 0);
  EXPECT_EQ(stream.Read().accepted().name(), ChargeNamed("b"));
  EXPECT_TRUE(stream.End().ok());
  EXPECT_EQ(server.client.GetBudget("budgets/b").response.cells(0).spent(), 2);
}

TEST(ChargeStream, AFencedAttemptIsRefusedInsideTheStream) {
  TestServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 5 }");
  OpenStream stream(server.client);
  ASSERT_TRUE(stream.Write(Request("a")));
  EXPECT_TRUE(stream.Read().has_accepted());
  ASSERT_TRUE(server.client.OpenAttempt("budgets/b/sessions/s").ok());
  ASSERT_TRUE(stream.Write(Request("b")));
  EXPECT_EQ(stream.Read().refused().refusal().reason(), v1::Refusal::ATTEMPT_FENCED);
  EXPECT_TRUE(stream.End().ok());
}

TEST(ChargeStream, EmptyStreamsEndWell) {
  TestServer server;
  OpenStream stream(server.client);
  EXPECT_TRUE(stream.End().ok());
}

TEST(ChargeStream, SubmitsWithoutWaitingUpToItsWindowAndReadsNoFurther) {
  HeldServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 100000 }");
  server.held.Hold();
  constexpr int kRequests = 3 * kMaxStreamWindow;
  OpenStream stream(server.client);
  std::thread writer([&stream] {
    for (int i = 0; i < kRequests; ++i) stream.Write(Request("c" + std::to_string(i)));
    stream.HalfClose();
  });
  server.held.AwaitHeld(kMaxStreamWindow);
  // Later calls of the same client have been read, decided and answered by now: the stream would
  // have read on as well.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(server.client.GetBudget("budgets/b").ok());
  EXPECT_EQ(server.held.held(), kMaxStreamWindow);
  server.held.LetGo();
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(stream.Read().accepted().name(), ChargeNamed("c" + std::to_string(i)));
  }
  writer.join();
  v1::ChargeResult more;
  EXPECT_FALSE(stream.raw().Read(&more));
  EXPECT_TRUE(stream.raw().Finish().ok());
}

TEST(ChargeStream, AHalfClosedStreamGetsWhatIsOpen) {
  HeldServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 100 }");
  server.held.Hold();
  OpenStream stream(server.client);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(stream.Write(Request("c" + std::to_string(i))));
  stream.HalfClose();
  server.held.AwaitHeld(10);
  server.held.LetGo();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(stream.Read().accepted().name(), ChargeNamed("c" + std::to_string(i)));
  }
  EXPECT_TRUE(stream.End().ok());
}

TEST(ChargeStream, ACancelledStreamChargesWhatItSubmittedOnce) {
  HeldServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 100 }");
  server.held.Hold();
  {
    OpenStream stream(server.client);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(stream.Write(Request("c" + std::to_string(i))));
    server.held.AwaitHeld(10);
    stream.Cancel();
    EXPECT_EQ(stream.raw().Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  server.held.LetGo();  // answers to nobody
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(server.client.Charge(kAttempt, "c" + std::to_string(i), kOneEpsilon, 1).ok());
  }
  EXPECT_EQ(server.client.GetBudget("budgets/b").response.cells(0).spent(), 10);
}

TEST(ChargeStream, DrainAnswersWhatIsOpenAndTakesNoMore) {
  HeldServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 100 }");
  server.held.Hold();
  OpenStream stream(server.client);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(stream.Write(Request("c" + std::to_string(i))));
  server.held.AwaitHeld(5);
  std::thread drain([&server] { server.server->Drain(absl::Seconds(50)); });
  // The health service says so when the drain has begun.
  server.held.LetGo();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(stream.Read().accepted().name(), ChargeNamed("c" + std::to_string(i)));
  }
  v1::ChargeResult more;
  EXPECT_FALSE(stream.raw().Read(&more));
  const grpc::Status status = stream.raw().Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  drain.join();
}

TEST(ChargeStream, DrainWithoutPatienceEndsAStreamThatNobodyAnswers) {
  HeldServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 100 }");
  server.held.Hold();
  OpenStream stream(server.client);
  ASSERT_TRUE(stream.Write(Request("c")));
  server.held.AwaitHeld(1);
  server.server->Drain(absl::ZeroDuration());
  v1::ChargeResult more;
  EXPECT_FALSE(stream.raw().Read(&more));
  EXPECT_FALSE(stream.raw().Finish().ok());
  server.held.LetGo();
}

// The status that the server ends the call with, by the bytes of its frames: a client of gRPC says
// DEADLINE_EXCEEDED by itself.
std::string StatusOnTheWire(const std::string& address, const std::string& bytes) {
  using boost::asio::ip::tcp;
  boost::asio::io_context context;
  tcp::socket socket(context);
  const size_t colon = address.rfind(':');
  socket.connect({boost::asio::ip::make_address(address.substr(0, colon)),
                  static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  boost::asio::write(socket, boost::asio::buffer(bytes));
  nghttp2_hd_inflater* inflater = nullptr;
  EXPECT_EQ(nghttp2_hd_inflate_new(&inflater), 0);
  std::string status;
  std::string header(9, '\0');
  while (status.empty()) {
    boost::asio::read(socket, boost::asio::buffer(header));
    const auto byte = [&header](int i) { return static_cast<uint8_t>(header[i]); };
    std::string payload(byte(0) << 16 | byte(1) << 8 | byte(2), '\0');
    boost::asio::read(socket, boost::asio::buffer(payload));
    if (byte(3) != fuzz::kHeadersFrame) continue;
    const auto* at = reinterpret_cast<const uint8_t*>(payload.data());
    size_t left = payload.size();
    int flags = 0;
    while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
      nghttp2_nv field{};
      const ssize_t read = nghttp2_hd_inflate_hd2(inflater, &field, &flags, at, left, 1);
      if (read < 0) break;
      at += read;
      left -= static_cast<size_t>(read);
      const std::string name(reinterpret_cast<const char*>(field.name), field.namelen);
      if (name == "grpc-status") {
        status.assign(reinterpret_cast<const char*>(field.value), field.valuelen);
      }
    }
    nghttp2_hd_inflate_end_headers(inflater);
  }
  nghttp2_hd_inflate_del(inflater);
  return status;
}

TEST(ChargeStream, IsEndedByTheServerAtItsDeadline) {
  HeldServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 100 }");
  server.held.Hold();
  std::vector<fuzz::Http2Frame> frames = fuzz::Http2Call(
      "/epsledger.v1.ChargeService/StreamCharges", Request("late").SerializeAsString());
  frames[1].payload += std::string(1, '\0') + "\x0cgrpc-timeout\x05" + "3000m";
  frames[2].flags = 0;  // more requests would follow
  EXPECT_EQ(StatusOnTheWire(server.server->addresses()[0], fuzz::WriteHttp2(frames)),
            std::to_string(grpc::StatusCode::DEADLINE_EXCEEDED));
  // What it submitted counts.
  server.held.AwaitHeld(1);
  server.held.LetGo();
  EXPECT_TRUE(server.client.Charge(kAttempt, "late", kOneEpsilon, 1).ok());
  EXPECT_EQ(server.client.GetBudget("budgets/b").response.cells(0).spent(), 1);
}

TEST(ChargeStream, AStormOfCancellationsLosesNothing) {
  TestServer server;
  server.client.MakeSession("pure_epsilon { epsilon: 100000 }");
  constexpr int kStreams = 50;
  constexpr int kRequests = 40;
  for (int s = 0; s < kStreams; ++s) {
    OpenStream stream(server.client);
    for (int i = 0; i < kRequests; ++i) {
      stream.Write(Request(std::to_string(s) + ":" + std::to_string(i)));
      if (i == s % kRequests) stream.Cancel();
    }
    EXPECT_EQ(stream.raw().Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  OpenStream stream(server.client);
  for (int s = 0; s < kStreams; ++s) {
    for (int i = 0; i < kRequests; ++i) {
      ASSERT_TRUE(stream.Write(Request(std::to_string(s) + ":" + std::to_string(i))));
      ASSERT_TRUE(stream.Read().has_accepted());
    }
  }
  EXPECT_TRUE(stream.End().ok());
  EXPECT_EQ(server.client.GetBudget("budgets/b").response.accepted_charge_count(),
            kStreams * kRequests);
}

}  // namespace
}  // namespace epsledger::transport
