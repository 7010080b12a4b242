#include "client/trainers/fsdp_published/unproven_run.h"

#include "gtest/gtest.h"

#include <array>
#include <limits>
#include <optional>

#include "client/trainers/fsdp_published/command_line.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::trainers::fsdp_published {
namespace {

class UnprovenRunTest : public testing::Test {
 protected:
  void SetUp() override {
    client_.emplace(*Client::Connect({.address = ledger_.address()}));
    budget_.name = "budgets/adult";
  }

  FakeLedger ledger_;
  std::optional<Client> client_;
  Budget budget_;
  const UnprovenRun run_{.session = "run-1", .data = "digits", .claim = {.epsilon = 2}};
};

TEST_F(UnprovenRunTest, ChargesOneNonPrivateEventAndSaysWhatItClaims) {
  const absl::StatusOr<Session> session = OpenUnprovenRun(run_, budget_, *client_);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_EQ(ledger_.charge_requests().size(), 1U);
  EXPECT_TRUE(ledger_.charge_requests()[0].event().has_non_private());
  EXPECT_EQ(ledger_.charge_requests()[0].count(), 1);
  ASSERT_EQ(ledger_.session_requests().size(), 1U);
  const v1::Claim claim = ledger_.session_requests()[0].session().claim();
  EXPECT_EQ(static_cast<int>(claim.status()),
            static_cast<int>(Claim::Status::kCounterexampleKnown));
  EXPECT_EQ(claim.epsilon(), 2);
  EXPECT_EQ(claim.delta(), 1e-5);
}

TEST_F(UnprovenRunTest, IsRefusedByALedgerThatHasNoRoomForIt) {
  ledger_.set_capacity(0);
  const absl::StatusOr<Session> session = OpenUnprovenRun(run_, budget_, *client_);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(RefusalOf(session.status()).has_value());
  EXPECT_EQ(ledger_.spent(), 0);
}

template <size_t N>
ParsedCommandLine Parse(const std::array<const char*, N>& arguments) {
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ParseCommandLine, WantsTheOptIn) {
  using Arguments = std::array<const char*, 3>;
  EXPECT_EQ(Parse(Arguments{"epsledger-fsdp-published", "--budget", "b"}).exit_code, 2);
  EXPECT_FALSE(Parse(Arguments{"epsledger-fsdp-published", "--budget", "b"}).options.has_value());
  const auto parsed = Parse(
      std::array<const char*, 4>{"epsledger-fsdp-published", "--budget", "b", "--accept-unproven"});
  ASSERT_TRUE(parsed.options.has_value());
  EXPECT_EQ(parsed.options->training.steps, 10);
}

TEST(ParseCommandLine, RefusesNoiseThatIsNotThePapers) {
  EXPECT_EQ(Parse(std::array<const char*, 6>{"epsledger-fsdp-published", "--budget", "b",
                                             "--accept-unproven", "--noise-multiplier", "1"})
                .exit_code,
            2);
}

TEST(ParseCommandLine, TakesLayersThatItsRelevanceIsFor) {
  const auto parse = [](const char* layers) {
    return Parse(std::array<const char*, 6>{"epsledger-fsdp-published", "--budget", "b",
                                            "--accept-unproven", "--layers", layers});
  };
  const ParsedCommandLine parsed = parse("fully_connected(32) tanh fully_connected(8) relu");
  ASSERT_TRUE(parsed.options.has_value());
  EXPECT_EQ(parsed.options->training.hidden_layers.size(), 4U);
  EXPECT_EQ(parse("convolution(8,3) tanh").exit_code, 2);
  EXPECT_EQ(parse("wide").exit_code, 2);
}

TEST(ParseCommandLine, StopsNowhereUnlessTold) {
  const ParsedCommandLine parsed = Parse(std::array<const char*, 6>{
      "epsledger-fsdp-published", "--budget", "b", "--accept-unproven", "--stop-above", "0.5"});
  ASSERT_TRUE(parsed.options.has_value());
  EXPECT_EQ(parsed.options->training.printed_epsilon_limit, 0.5);
  EXPECT_EQ(CommandLine{}.training.printed_epsilon_limit, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
