// Every method, as callers whom another issuer's tokens name, or forgeries of them.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/method_rules.h"
#include "server/oidc/oidc_provider.h"
#include "tests/server/oidc/test_issuer.h"
#include "tests/server/transport/good_requests.h"
#include "tests/server/transport/test_server.h"
#include "tests/server/transport/token_caller.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

constexpr char kGroups[] = R"({"rules": [
    {"claim": "group", "value": "viewers", "tenant": "acme", "role": "viewer"},
    {"claim": "group", "value": "trainers", "tenant": "acme", "role": "trainer"},
    {"claim": "group", "value": "admins", "tenant": "acme", "role": "admin"},
    {"claim": "group", "value": "vision", "tenant": "acme", "role": "trainer",
     "within": ["budgets/vision"]}]})";

// The files of an issuer.
class IssuerFiles {
 public:
  IssuerFiles() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "keys") << oidc::SetOf({key_.Json()});
    std::ofstream(folder_ / "rules") << kGroups;
    auto provider = oidc::OidcProvider::Start({.issuer = "https://issuer.example",
                                               .audience = "epsledger",
                                               .keys = folder_ / "keys",
                                               .rules_file = folder_ / "rules"});
    EXPECT_TRUE(provider.ok()) << provider.status();
    provider_ = *std::move(provider);
  }
  ~IssuerFiles() {
    provider_.reset();
    std::filesystem::remove_all(folder_);
  }

  static std::string Claims(const std::string& group, absl::Duration life = absl::Hours(1)) {
    return nlohmann::json{{"iss", "https://issuer.example"},
                          {"aud", "epsledger"},
                          {"sub", "alice"},
                          {"group", group},
                          {"exp", absl::ToUnixSeconds(absl::Now() + life)}}
        .dump();
  }
  const oidc::TestKey& key() const { return key_; }
  access::IdentityProvider* provider() const { return provider_.get(); }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / absl::StrCat("epsledger-issuer-", ::getpid());
  const oidc::TestKey key_ = oidc::TestKey::Rsa("r");
  std::unique_ptr<oidc::OidcProvider> provider_;
};

class Issuer : public ::testing::Test {
 protected:
  std::string Token(const std::string& group) {
    return "Bearer " + files_.key().Sign("RS256", IssuerFiles::Claims(group));
  }
  Caller As(const std::string& authorization) {
    return Caller(ChannelTo(*server_.server), authorization);
  }

  IssuerFiles files_;
  TestServer server_{{.addresses = {"127.0.0.1:0"}, .identity_provider = files_.provider()}};
};

TEST_F(Issuer, EveryMethodAnswersAsTheRulesSay) {
  struct Row {
    const char* who;
    std::string authorization;
    int rank;  // 0: not known
  };
  const oidc::TestKey& key = files_.key();
  const std::string claims = IssuerFiles::Claims("admins");
  const std::vector<Row> rows = {
      {"nobody", "", 0},
      {"signed by another", "Bearer " + oidc::TestKey::Rsa("r").Sign("RS256", claims), 0},
      {"not signed",
       absl::StrCat("Bearer ", oidc::Base64Url(R"({"alg":"none","kid":"r"})"), ".",
                    oidc::Base64Url(claims), "."),
       0},
      {"the public key as a secret",
       "Bearer " + oidc::TestKey::Shared("r", key.Json().dump()).Sign("HS256", claims), 0},
      {"expired", "Bearer " + key.Sign("RS256", IssuerFiles::Claims("admins", -absl::Minutes(2))),
       0},
      {"without a rule", Token("strangers"), 0},
      {"in another scheme", "Basic " + key.Sign("RS256", claims), 0},
      {"a viewer", Token("viewers"), 1},
      {"a trainer", Token("trainers"), 2},
      {"an admin", Token("admins"), 3},
  };
  int answers = 0;
  for (const google::protobuf::MethodDescriptor* method : AllMethods()) {
    const int least = static_cast<int>(access::FindMethodRule(method->full_name())->least);
    for (const Row& row : rows) {
      const grpc::Status status = As(row.authorization).Call(*method, "");
      const std::string label =
          absl::StrCat(method->full_name(), ", ", row.who, ": ", status.error_message());
      ++answers;
      if (row.rank == 0) {
        EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << label;
      } else if (row.rank < least) {
        EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << label;
        EXPECT_THAT(status.error_message(), HasSubstr("oidc/alice")) << label;
      } else {
        EXPECT_NE(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << label;
        EXPECT_NE(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << label;
      }
    }
  }
  EXPECT_GT(answers, 500);
}

TEST_F(Issuer, TheCallersOfARuleHaveItsGrants) {
  const Caller admin = As(Token("admins"));
  for (const char* id : {"vision", "speech"}) {
    const auto made = admin.Call<v1::Budget>(
        "BudgetService.CreateBudget",
        absl::StrCat("budget_id: '", id,
                     "' budget { cap { pure_epsilon { epsilon: 8 } } neighboring_relation: "
                     "ADD_OR_REMOVE_ONE privacy_unit: 'person' }"));
    ASSERT_TRUE(made.ok()) << made.status.error_message();
  }
  const Caller vision = As(Token("vision"));
  const auto code = [&](const std::string& budget) {
    return vision.Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/" + budget + "'")
        .code();
  };
  EXPECT_EQ(code("vision"), grpc::StatusCode::OK);
  EXPECT_EQ(code("speech"), grpc::StatusCode::NOT_FOUND);
  const auto caller = vision.Call<v1::Caller>("AccessService.GetCaller", "");
  EXPECT_EQ(caller.response.principal(), "oidc/alice");
  EXPECT_EQ(caller.response.tenant(), "acme");
  ASSERT_EQ(caller.response.grants_size(), 1);
  EXPECT_EQ(caller.response.grants(0).resource(), "budgets/vision");
  // Who did it is in the ledger.
  const auto entries = admin.Call<v1::ListAuditEntriesResponse>("AuditService.ListAuditEntries",
                                                                "budget: 'budgets/vision'");
  ASSERT_EQ(entries.response.entries_size(), 1);
  EXPECT_EQ(entries.response.entries(0).actor().principal(), "oidc/alice");
}

}  // namespace
}  // namespace epsledger::transport
