// What a real server shows at /metrics after calls of every kind: what it counts, what it never
// names, and that promtool finds nothing to say about it.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/transport/http_exchange.h"
#include "tests/server/transport/test_server.h"

namespace epsledger {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using transport::Parse;
using transport::TestClient;

class Metrics : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(server_.address().empty()) << server_.output();
    std::ifstream addresses(AddressFile());
    std::string address;
    while (std::getline(addresses, address)) {
      if (address.rfind("http://", 0) == 0) http_address_ = address.substr(7);
    }
    ASSERT_FALSE(http_address_.empty());
    client_ = std::make_unique<TestClient>(
        grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials()));
    client_->MakeSession("pure_epsilon { epsilon: 2 }");
  }

  // The body of GET /metrics.
  std::string Scrape() const {
    const std::string answer = transport::Get(http_address_, "/metrics");
    EXPECT_THAT(answer, ::testing::StartsWith("HTTP/1.1 200"));
    const size_t body = answer.find("\r\n\r\n");
    return body == answer.npos ? "" : answer.substr(body + 4);
  }

  // Accepted, refused for want of budget, wrong, and of what does not exist.
  void CallInEveryWay() {
    EXPECT_TRUE(client_->Charge(transport::kAttempt, "step-17", transport::kOneEpsilon, 1).ok());
    EXPECT_EQ(client_->Charge(transport::kAttempt, "step-18", transport::kOneEpsilon, 2).code(),
              grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(client_->Charge(transport::kAttempt, "step-19", transport::kOneEpsilon, 0).code(),
              grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(client_->GetSession("budgets/b/sessions/none").code(), grpc::StatusCode::NOT_FOUND);
  }

  std::string AddressFile() const { return folder_.path() + "/addresses"; }

  const ScratchFolder folder_;
  ServerProcess server_{
      folder_.path() + "/data",
      {"env", "EPSLEDGERD_HTTP_LISTEN=127.0.0.1:0", "EPSLEDGERD_ADDRESS_FILE=" + AddressFile()}};
  std::string http_address_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(Metrics, CountCallsByMethodAndCodeAndRefusalsByReason) {
  CallInEveryWay();
  grpc::ClientContext context;
  const auto watch = client_->sessions->WatchSession(
      &context, Parse<v1::WatchSessionRequest>("name: 'budgets/b/sessions/s'"));
  v1::LedgerChange change;
  ASSERT_TRUE(watch->Read(&change));
  const std::string text = Scrape();
  for (const char* line : {
           "epsledger_rpc_calls_total{code=\"OK\",method=\"ChargeService.Charge\"} 1\n",
           "epsledger_rpc_calls_total{code=\"FAILED_PRECONDITION\",method=\"ChargeService.Charge\"}"
           " "
           "1\n",
           "epsledger_rpc_calls_total{code=\"INVALID_ARGUMENT\",method=\"ChargeService.Charge\"} "
           "1\n",
           "epsledger_rpc_calls_total{code=\"NOT_FOUND\",method=\"SessionService.GetSession\"} 1\n",
           "epsledger_rpc_seconds_count{method=\"ChargeService.Charge\"} 3\n",
           "epsledger_rpc_seconds_count{method=\"SessionService.CreateSession\"} 1\n",
           "epsledger_rpc_in_flight{method=\"ChargeService.Charge\"} 0\n",
           "epsledger_rpc_in_flight{method=\"SessionService.WatchSession\"} 1\n",
           "epsledger_rpc_refusals_total{reason=\"BUDGET_EXHAUSTED\"} 1\n",
           "epsledger_rpc_refusals_total{reason=\"INVALID_FIELD\"} 1\n",
           "epsledger_rpc_refusals_total{reason=\"RESOURCE_NOT_FOUND\"} 1\n",
           "epsledger_certificate_reload_failures_total 0\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("step-1")));
  EXPECT_THAT(text, Not(HasSubstr("sessions/")));
  EXPECT_THAT(text, Not(HasSubstr("session=")));
  context.TryCancel();
}

TEST_F(Metrics, AreAsPrometheusWantsThem) {
  if (std::system("command -v promtool >/dev/null") != 0) {
    GTEST_SKIP() << "promtool is not installed (package prometheus of docker/packages/test.txt)";
  }
  CallInEveryWay();
  const std::string text = Scrape();
  ASSERT_THAT(text, HasSubstr("epsledger_rpc_calls_total"));
  const auto check = [this](const std::string& metrics) {
    const std::string file = folder_.path() + "/metrics";
    const std::string said = folder_.path() + "/said";
    std::ofstream(file) << metrics;
    const int exit =
        std::system(("promtool check metrics <" + file + " >" + said + " 2>&1").c_str());
    std::ostringstream words;
    words << std::ifstream(said).rdbuf();
    return exit == 0 ? words.str() : "exit status " + std::to_string(exit) + ": " + words.str();
  };
  EXPECT_EQ(check(text), "");
  EXPECT_NE(check(text + "# TYPE thing counter\nthing 1\n"), "");  // it would tell
}

}  // namespace
}  // namespace epsledger
