// Ten times what a server can commit, for as long as EPSLEDGER_OVERLOAD_SECONDS says (default 4,
// the long form is 60). Its disk is made slow, so that the disk is what there is too little of, as
// in production, and not the processor that the clients of this test need too.

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/transport/test_server.h"

namespace epsledger {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using transport::TestClient;

constexpr int kQueue = 16;
constexpr int kClients = 16;  // each on a connection and a session of its own
constexpr int kOverload = 10;
constexpr int kMostInFlight = 1024;
constexpr double kUnit = 1.0 / (1 << 20);  // dyadic: spent is exactly the number of charges
// What the server holds for calls: ten times as many more calls may not cost more than this.
constexpr long kMemoryGrowthKb = 32 << 10;

double OverloadSeconds() {
  const char* value = std::getenv("EPSLEDGER_OVERLOAD_SECONDS");
  return value == nullptr ? 3 : std::atof(value);
}

// What all calls of one phase came to.
struct Tally {
  std::vector<std::string> accepted;  // names of charges
  std::vector<double> accepted_seconds;
  std::vector<double> refused_seconds;
  std::vector<std::string> others;  // neither accepted nor refused as an overloaded server refuses

  size_t size() const { return accepted.size() + refused_seconds.size() + others.size(); }
};

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Clients that charge, many calls at a time, and remember what every call came to.
class Crowd {
 public:
  explicit Crowd(const std::string& address) {
    for (int c = 0; c < kClients; ++c) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      clients_.push_back(std::make_unique<TestClient>(
          grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments)));
    }
  }

  void SetUp() {
    ASSERT_TRUE(admin().CreateBudget("hot", "pure_epsilon { epsilon: 1 }").ok());
    for (int c = 0; c < kClients; ++c) {
      ASSERT_TRUE(admin().CreateSession("hot", "run-" + std::to_string(c)).ok());
      ASSERT_TRUE(admin().OpenAttempt(SessionName(c)).ok());
    }
  }

  static std::string SessionName(int c) { return "budgets/hot/sessions/run-" + std::to_string(c); }
  TestClient& admin() { return *clients_[0]; }

  // Many calls at once.
  void Send(int calls) {
    Begin();
    for (int i = 0; i < calls; ++i) Send();
  }
  void AwaitEnded(size_t calls) {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_.wait(lock, [&] { return tally_.size() >= calls; });
  }
  Tally AwaitAll() {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_.wait(lock, [this] { return in_flight_ == 0; });
    return std::move(tally_);
  }

  // As many calls in flight all the time; none is begun after `seconds`.
  Tally KeepInFlight(int calls, double seconds) {
    Begin();
    const Clock::time_point end = Clock::now() + ToClock(seconds);
    go_on_ = [this, end] {
      if (Clock::now() < end) Send();
    };
    for (int i = 0; i < calls; ++i) Send();
    return AwaitAll();
  }

  // Calls that come whether or not earlier ones are answered, `per_second` of them, `count` in all.
  Tally Offer(double per_second, int64_t count) {
    Begin();
    const Clock::time_point start = Clock::now();
    for (int64_t sent = 0; sent < count;) {
      const auto due = static_cast<int64_t>(Seconds(Clock::now() - start).count() * per_second);
      for (; sent < std::min(due, count) && in_flight_ < kMostInFlight; ++sent) Send();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the pace, nothing waits for it
    }
    return AwaitAll();
  }

 private:
  struct PendingCall {
    grpc::ClientContext context;
    v1::ChargeRequest request;
    v1::Charge response;
    Clock::time_point begun;
  };

  static Clock::duration ToClock(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  }

  void Begin() {
    tally_ = Tally();
    go_on_ = [] {};
  }

  void Send() {
    const int64_t number = next_++;
    const int c = static_cast<int>(number % kClients);
    auto call = std::make_shared<PendingCall>();
    call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(120));
    call->request.set_attempt(SessionName(c) + "/attempts/1");
    call->request.set_charge_id("c" + std::to_string(number));
    call->request.mutable_event()->mutable_pure_dp()->set_epsilon(kUnit);
    call->request.set_count(1);
    call->begun = Clock::now();
    ++in_flight_;
    clients_[c]->charges->async()->Charge(&call->context, &call->request, &call->response,
                                          [this, call](const grpc::Status& status) {
                                            Record(*call, status);
                                            go_on_();
                                            End();
                                          });
  }

  void Record(const PendingCall& call, const grpc::Status& status) {
    const double seconds = Seconds(Clock::now() - call.begun).count();
    google::rpc::RetryInfo retry;
    const bool refused = status.error_code() == grpc::StatusCode::UNAVAILABLE &&
                         transport::ReasonOf(status) == "OVERLOADED" &&
                         transport::FindDetail(status, &retry) &&
                         retry.retry_delay().nanos() + retry.retry_delay().seconds() > 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status.ok() && call.response.decision() == v1::Charge::ACCEPTED) {
      tally_.accepted.push_back(call.response.name());
      tally_.accepted_seconds.push_back(seconds);
    } else if (refused) {
      tally_.refused_seconds.push_back(seconds);
    } else {
      tally_.others.push_back(status.error_message());
    }
  }

  void End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --in_flight_;
    ended_.notify_all();
  }

  std::vector<std::unique_ptr<TestClient>> clients_;
  std::function<void()> go_on_;  // after every answer
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> in_flight_{0};
  std::mutex mutex_;
  std::condition_variable ended_;
  Tally tally_;  // under mutex_
};

// Every charge of the sessions that the ledger holds, with those that it holds twice.
std::multiset<std::string> ChargesInTheLedger(TestClient& client) {
  std::multiset<std::string> names;
  for (int c = 0; c < kClients; ++c) {
    v1::ListChargesRequest request;
    request.set_parent(Crowd::SessionName(c));
    request.set_page_size(1000);
    do {
      const auto page = TestClient::Call<v1::ListChargesResponse>(
          *client.charges, &v1::ChargeService::Stub::ListCharges, request);
      EXPECT_TRUE(page.ok()) << page.status.error_message();
      for (const v1::Charge& charge : page.response.charges()) {
        EXPECT_EQ(charge.decision(), v1::Charge::ACCEPTED);
        names.insert(charge.name());
      }
      request.set_page_token(page.response.next_page_token());
    } while (!request.page_token().empty());
  }
  return names;
}

class Overload : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(server.address().empty()) << server.output();
    crowd.emplace(server.address());
    crowd->SetUp();
  }

  std::string Gate() const { return folder.path() + "/gate"; }

  const ScratchFolder folder;
  ServerProcess server{
      folder.path() + "/data",
      {"env", "LD_PRELOAD=" EPSLEDGER_SLOW_DISK, "EPSLEDGER_SYNC_MILLISECONDS=40",
       "EPSLEDGER_SYNC_GATE=" + Gate(), "EPSLEDGERD_MAX_QUEUE=" + std::to_string(kQueue)}};
  std::optional<Crowd> crowd;
};

TEST_F(Overload, IsRefusedWhileNothingIsCommitted) {
  constexpr int kCalls = 20 * kQueue;
  std::ofstream(Gate()) << "closed";
  crowd->Send(kCalls);
  // At most a queue is with the disk, and another waits. Comes back, though no commit ends.
  crowd->AwaitEnded(kCalls - 2 * kQueue);
  std::filesystem::remove(Gate());
  const Tally tally = crowd->AwaitAll();
  EXPECT_TRUE(tally.others.empty()) << tally.others.front();
  EXPECT_GE(tally.refused_seconds.size(), kCalls - 2 * kQueue);
  EXPECT_GE(tally.accepted.size(), kQueue);
  EXPECT_EQ(ChargesInTheLedger(crowd->admin()),
            std::multiset<std::string>(tally.accepted.begin(), tally.accepted.end()));
}

TEST_F(Overload, CostsNeitherGoodputNorMemoryNorCharges) {
  // The peak: as many calls at a time as serve the ledger best.
  std::vector<std::string> acknowledged;
  const auto remember = [&acknowledged](const Tally& tally) {
    acknowledged.insert(acknowledged.end(), tally.accepted.begin(), tally.accepted.end());
  };
  const auto measure_peak = [&] {
    double peak = 0;
    for (const int in_flight : {kQueue / 2, kQueue, 2 * kQueue}) {
      const Clock::time_point start = Clock::now();
      const Tally tally = crowd->KeepInFlight(in_flight, 0.7);
      peak = std::max(peak, tally.accepted.size() / Seconds(Clock::now() - start).count());
      EXPECT_TRUE(tally.others.empty()) << tally.others.front();
      remember(tally);
    }
    return peak;
  };
  const double peak = measure_peak();
  ASSERT_GT(peak, 0);

  // The memory that calls need is there after a first part of the load.
  const auto calls = static_cast<int64_t>(kOverload * peak * OverloadSeconds());
  const Tally first = crowd->Offer(kOverload * peak, calls / 4);
  const long memory_kb = server.MemoryKb();
  const Clock::time_point start = Clock::now();
  const Tally overload = crowd->Offer(kOverload * peak, calls);
  const double seconds = Seconds(Clock::now() - start).count();
  const long growth_kb = server.MemoryKb() - memory_kb;
  const double goodput = overload.accepted.size() / seconds;
  remember(first);
  remember(overload);
  const double peak_after = measure_peak();  // a disk may be another one a moment later
  std::printf(
      "peak %.0f/s, then %.0f/s; offered %.0f/s for %.1f s: %.0f/s accepted, median %.1f ms; %zu "
      "refused, "
      "median %.2f ms; memory %ld kB, %+ld kB\n",
      peak, peak_after, overload.size() / seconds, seconds, goodput,
      Median(overload.accepted_seconds) * 1e3, overload.refused_seconds.size(),
      Median(overload.refused_seconds) * 1e3, memory_kb, growth_kb);
  ASSERT_TRUE(first.others.empty()) << first.others.front();
  ASSERT_TRUE(overload.others.empty()) << overload.others.front();
  ASSERT_GT(overload.refused_seconds.size(), overload.accepted.size());
  EXPECT_GT(goodput, std::min(peak, peak_after) / 4);
  EXPECT_LT(growth_kb, kMemoryGrowthKb);

  // Nothing is lost, nothing is there twice, and nothing that was refused is there.
  const std::multiset<std::string> ledger = ChargesInTheLedger(crowd->admin());
  EXPECT_EQ(ledger, std::multiset<std::string>(acknowledged.begin(), acknowledged.end()));
  EXPECT_EQ(std::set<std::string>(ledger.begin(), ledger.end()).size(), ledger.size());
  const auto budget = crowd->admin().GetBudget("budgets/hot");
  ASSERT_TRUE(budget.ok()) << budget.status.error_message();
  EXPECT_EQ(budget.response.cells(0).spent(), acknowledged.size() * kUnit);

  // Healthy again.
  EXPECT_TRUE(
      crowd->admin()
          .Charge(Crowd::SessionName(0) + "/attempts/1", "after", "pure_dp { epsilon: 0.5 }", 1)
          .ok());
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace epsledger
