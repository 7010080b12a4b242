// Random valid requests (random_request.h states the distribution) through the same lines of JSON
// as `epsctl compute`: every one is answered with a bound or an honest refusal, in seconds, and no
// accountant contradicts another one.
//
// EPSLEDGER_RANDOM_REQUESTS sets the number of requests, EPSLEDGER_RANDOM_SEED the first seed. A
// million of them:
//   EPSLEDGER_RANDOM_REQUESTS=1000000 agreement_test --gtest_filter='*RandomRequests*'

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "epsledger/v1/accounting_service.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "proto/bridge/compute.h"
#include "tests/agreement/random_request.h"

namespace epsledger::tests {
namespace {

#if defined(__SANITIZE_ADDRESS__)
#define EPSLEDGER_UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EPSLEDGER_UNDER_SANITIZER 1
#endif
#endif

#ifdef EPSLEDGER_UNDER_SANITIZER
constexpr uint64_t kRequests = 1'000;
#else
constexpr uint64_t kRequests = 3'000;
#endif
// Slower requests are named while they run.
constexpr double kSlowSeconds = 2;
constexpr uint64_t kParts = 10;
// 1 of this many requests is put to every accountant.
constexpr uint64_t kComparedEvery = 51;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string LineOf(const v1::ComputeRequest& request) {
  std::string line;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(request, &line).ok());
  return line;
}

// Names a request that does not come back, before the test's time is over.
class Watch {
 public:
  explicit Watch(std::string what) : thread_([this, what] { Wait(what); }) {}
  ~Watch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    over_.notify_one();
    thread_.join();
  }

 private:
  void Wait(const std::string& what) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!over_.wait_for(lock, std::chrono::duration<double>(kSlowSeconds), [&] { return done_; })) {
      std::cerr << "slow: " << what << std::endl;
    }
  }

  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  std::thread thread_;  // the last member: it uses the others
};

struct Timed {
  v1::ComputeResponse response;
  double seconds;
};

Timed AnswerOf(const v1::ComputeRequest& request, uint64_t seed) {
  const std::string line = LineOf(request);
  const Watch watch("seed " + std::to_string(seed) + ": " + line);
  const auto start = std::chrono::steady_clock::now();
  Timed answer{bridge::AnswerJsonLine(line), 0};
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

bool IsDelta(const v1::Query& query) {
  return query.kind_case() == v1::Query::kDeltaAtEpsilon ||
         query.kind_case() == v1::Query::kAdvantage;
}
bool IsTypeTwoError(const v1::Query& query) {
  return query.kind_case() == v1::Query::kTypeTwoErrorAt ||
         query.kind_case() == v1::Query::kInverseTypeTwoErrorAt;
}
bool IsAttackSuccess(const v1::Query& query) {
  return query.has_true_positive_rate_at() || query.has_bayes_success_at() ||
         query.has_reconstruction_success_at();
}
// The queries whose `upper` is a bound on one number, the smaller the better.
bool IsBoundedAbove(const v1::Query& query) {
  return IsDelta(query) || IsAttackSuccess(query) ||
         query.kind_case() == v1::Query::kEpsilonAtDelta ||
         query.kind_case() == v1::Query::kEpsilonAtLogDelta ||
         query.kind_case() == v1::Query::kRenyiDivergenceAtOrder;
}

// An answer is a number of its kind, or a refusal that a valid request may meet.
void ExpectHonest(const v1::ComputeRequest& request, const v1::ComputeResponse& response) {
  if (response.has_error()) {
    EXPECT_TRUE(response.error().code() == google::rpc::UNIMPLEMENTED ||
                response.error().code() == google::rpc::FAILED_PRECONDITION)
        << response.error().ShortDebugString();
    EXPECT_FALSE(response.error().message().empty());
    EXPECT_FALSE(response.has_upper() || response.has_lower() || response.has_value());
    return;
  }
  EXPECT_TRUE(response.has_upper() || response.has_lower() || response.has_value());
  EXPECT_NE(response.kind(), v1::Guarantee::KIND_UNSPECIFIED);
  EXPECT_FALSE(response.theorem().empty());
  EXPECT_EQ(bridge::ToJsonLine(response).find("NaN"), std::string::npos)
      << bridge::ToJsonLine(response);
  if (response.has_upper() && response.has_lower()) {
    EXPECT_GE(response.upper(), response.lower());
  }
  if (response.has_log_upper() && response.has_log_lower()) {
    EXPECT_GE(response.log_upper(), response.log_lower());
  }
  for (const auto& bound :
       {response.has_upper() ? std::optional(response.upper()) : std::nullopt,
        response.has_lower() ? std::optional(response.lower()) : std::nullopt}) {
    if (!bound.has_value()) continue;
    EXPECT_GE(*bound, 0);
    if (IsDelta(request.query()) || IsTypeTwoError(request.query()) ||
        IsAttackSuccess(request.query())) {
      EXPECT_LE(*bound, 1);
    }
  }
  if (response.has_log_upper()) {
    EXPECT_LE(response.log_upper(), 0);
  }
}

bool IsProved(const v1::ComputeResponse& response) {
  return !response.has_error() && response.kind() == v1::Guarantee::UPPER_BOUND;
}

// Every proved answer to one question holds with every other one, and BEST is the best of them.
void ExpectAgreement(v1::ComputeRequest request, uint64_t seed) {
  if (!IsBoundedAbove(request.query()) && !IsTypeTwoError(request.query())) return;
  std::map<v1::Accountant::Kind, v1::ComputeResponse> proved;
  for (int accountant = v1::Accountant::BASIC; accountant <= v1::Accountant::BEST; ++accountant) {
    request.set_accountant(static_cast<v1::Accountant::Kind>(accountant));
    const v1::ComputeResponse response = AnswerOf(request, seed).response;
    ExpectHonest(request, response);
    if (IsProved(response)) proved[request.accountant()] = response;
  }
  const double width = request.has_relative_width() ? request.relative_width() : 1e-3;
  const auto best = proved.find(v1::Accountant::BEST);
  for (const auto& [upper_name, above] : proved) {
    for (const auto& [lower_name, below] : proved) {
      if (!above.has_upper() || !below.has_lower()) continue;
      EXPECT_LE(below.lower(), above.upper())
          << v1::Accountant::Kind_Name(lower_name) << " bounds from below and "
          << v1::Accountant::Kind_Name(upper_name) << " from above";
    }
    ASSERT_NE(best, proved.end()) << v1::Accountant::Kind_Name(upper_name) << " answers";
    if (IsTypeTwoError(request.query())) {
      if (!above.has_lower()) continue;
      EXPECT_GE(best->second.lower() + 1e-6, above.lower() * (1 - width))
          << v1::Accountant::Kind_Name(upper_name);
    } else if (above.has_upper()) {
      EXPECT_LE(best->second.upper(), above.upper() * (1 + width) + 1e-6)
          << v1::Accountant::Kind_Name(upper_name);
    }
  }
}

// The requests in parts, which ctest runs side by side.
class RandomRequests : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomRequests, AreAnsweredWithABoundOrAnHonestRefusal) {
  const uint64_t total = FromEnvironment("EPSLEDGER_RANDOM_REQUESTS", kRequests);
  const uint64_t end = FromEnvironment("EPSLEDGER_RANDOM_SEED", 1) + total;
  uint64_t answered = 0;
  uint64_t count = 0;
  std::vector<double> seconds;
  for (uint64_t seed = end - total + GetParam(); seed < end; seed += kParts) {
    ++count;
    const v1::ComputeRequest request = RandomRequest(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + LineOf(request));
    const Timed answer = AnswerOf(request, seed);
    ExpectHonest(request, answer.response);
    seconds.push_back(answer.seconds);
    if (!answer.response.has_error()) ++answered;
    if (seed % kComparedEvery == 0) ExpectAgreement(request, seed);
  }
  // A test that is refused everywhere tests nothing.
  if (count >= 50) {
    EXPECT_GE(static_cast<double>(answered), 0.2 * static_cast<double>(count));
  }
  std::cout << answered << " of " << count << " requests were answered with a number\n";
  if (seconds.empty()) return;
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  std::cout << "seconds a request: median " << at(0.5) << ", of 90 in 100 " << at(0.9)
            << ", of 99 in 100 " << at(0.99) << ", the slowest " << at(1) << ", in all "
            << std::accumulate(seconds.begin(), seconds.end(), 0.0) << "\n";
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomRequests, ::testing::Range<uint64_t>(0, kParts));

}  // namespace
}  // namespace epsledger::tests
