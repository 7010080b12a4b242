// What people say about budgets and sessions, and who signed a statement off: recorded with who
// said it, part of later statements, and no part of any decision.

#include <limits>
#include <string>

#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Stub = v1::AuditService::Stub;

constexpr char kRun[] = "budgets/b/sessions/s";

std::string Sha256(const std::string& text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

class Annotations : public ::testing::Test {
 protected:
  Annotations() { server_.client.MakeSession("pure_epsilon { epsilon: 50 }"); }

  Reply<v1::Annotations> Update(const std::string& request) {
    return TestClient::Call(*server_.client.audit, &Stub::UpdateAnnotations,
                            Parse<v1::UpdateAnnotationsRequest>(request));
  }
  v1::Annotations Get(const std::string& name) {
    v1::GetAnnotationsRequest request;
    request.set_name(name);
    const auto reply = TestClient::Call(*server_.client.audit, &Stub::GetAnnotations, request);
    EXPECT_TRUE(reply.ok()) << reply.status.error_message();
    return reply.response;
  }
  v1::PrivacyStatement Statement(const std::string& name) {
    v1::GetPrivacyStatementRequest request;
    request.set_name(name);
    request.set_delta(1e-6);
    const auto reply = TestClient::Call(*server_.client.audit, &Stub::GetPrivacyStatement, request);
    EXPECT_TRUE(reply.ok()) << reply.status.error_message();
    return reply.response;
  }
  Reply<v1::Annotations> SignOff(const std::string& name, const v1::PrivacyStatement& statement,
                                 const std::string& who = "signer: 'Ada' role: 'officer'") {
    v1::RecordSignOffRequest request;
    request.set_name(name);
    *request.mutable_sign_off() = Parse<v1::SignOff>(who);
    request.set_statement_json(statement.json());
    request.set_signature(statement.signature());
    return TestClient::Call(*server_.client.audit, &Stub::RecordSignOff, request);
  }
  int64_t Entries() {
    return TestClient::Call(*server_.client.audit, &Stub::GetLedgerHead,
                            Parse<v1::GetLedgerHeadRequest>("budget: 'budgets/b'"))
        .response.sequence();
  }
  bool Verifies() {
    const auto reply = TestClient::Call(*server_.client.audit, &Stub::VerifyLedger,
                                        Parse<v1::VerifyLedgerRequest>("budget: 'budgets/b'"));
    return reply.ok() && reply.response.valid();
  }

  TestServer server_;
};

TEST_F(Annotations, AreSetWithdrawnAndKeptWithWhoSaidThem) {
  const auto set = Update(
      "name: 'budgets/b' annotations { topic: DATA_DOMAIN text: 'adults' }"
      "annotations { topic: DEPLOYMENT_MODEL text: 'Central' }");
  ASSERT_TRUE(set.ok()) << set.status.error_message();
  ASSERT_EQ(set.response.annotations_size(), 2);
  EXPECT_EQ(set.response.annotations(0).topic(), v1::Annotation::DEPLOYMENT_MODEL);
  EXPECT_EQ(set.response.annotations(1).text(), "adults");
  EXPECT_NE(set.response.annotations(1).principal(), "");
  EXPECT_GT(set.response.annotations(1).sequence(), 0);
  const int64_t entries = Entries();
  ASSERT_TRUE(Update("name: 'budgets/b' annotations { topic: DATA_DOMAIN text: 'adults' }").ok());
  EXPECT_EQ(Entries(), entries) << "a repetition writes nothing";
  ASSERT_TRUE(Update("name: 'budgets/b' annotations { topic: DATA_DOMAIN text: 'x' } "
                     "validate_only: true")
                  .ok());
  EXPECT_EQ(Entries(), entries);
  ASSERT_TRUE(Update("name: 'budgets/b' annotations { topic: DATA_DOMAIN }").ok());
  EXPECT_EQ(Entries(), entries + 1);
  const auto again = Update("name: 'budgets/b' annotations { topic: ACTORS text: 'all' }");
  EXPECT_EQ(again.response.annotations_size(), 1) << "a write answers with what it wrote";
  ASSERT_TRUE(Update("name: 'budgets/b' annotations { topic: ACTORS }").ok());
  EXPECT_EQ(Get("budgets/b").annotations_size(), 1);
  EXPECT_EQ(Get(kRun).annotations_size(), 0);
  EXPECT_TRUE(Verifies());
}

TEST_F(Annotations, BadOnesAreNamedAndWriteNothing) {
  const int64_t entries = Entries();
  const struct {
    std::string request;
    const char* want;
  } rows[] = {
      {"name: 'budgets/b'", "annotations: got nothing"},
      {"name: 'budgets/b' annotations { text: 'x' }", "annotations[0].topic"},
      {"name: 'budgets/b' annotations { topic: 99 text: 'x' }", "annotations[0].topic"},
      {"name: 'budgets/b' annotations { topic: ACTORS text: 'x' } annotations { topic: ACTORS }",
       "annotations[1].topic"},
      {"name: 'budgets/b' annotations { topic: DEPLOYMENT_MODEL text: 'central' }",
       "want one of Local, Central, Shuffle, Federated"},
      {"name: 'budgets/b' annotations { topic: ACTORS text: 'x' sequence: 3 }",
       "annotations[0].sequence"},
      {absl::StrCat("name: 'budgets/b' annotations { topic: ACTORS text: '", std::string(2049, 'a'),
                    "' }"),
       "annotations[0].text: got 2049 bytes, want at most 2048"},
      {"name: 'budgets/b' annotations { topic: ACTORS text: ' ' }",
       "annotations[0].text: got \" \", want more than spaces"},
      {"name: 'budgets' annotations { topic: ACTORS text: 'x' }", "name"},
  };
  for (const auto& row : rows) {
    const auto reply = Update(row.request);
    EXPECT_EQ(reply.code(), grpc::StatusCode::INVALID_ARGUMENT) << row.want;
    EXPECT_THAT(reply.status.error_message(), HasSubstr(row.want));
  }
  EXPECT_EQ(Update("name: 'budgets/none' annotations { topic: ACTORS text: 'x' }").code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(
      Update("name: 'budgets/b/sessions/none' annotations { topic: ACTORS text: 'x' }").code(),
      grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Entries(), entries);
}

TEST_F(Annotations, AStatementSaysThemAndWhereTheyWereRecorded) {
  ASSERT_TRUE(Update("name: 'budgets/b' annotations { topic: ACTORS text: 'of the budget' }"
                     "annotations { topic: SECURITY text: '<b>\"locked\"</b>' }")
                  .ok());
  ASSERT_TRUE(
      Update("name: 'budgets/b/sessions/s' annotations { topic: ACTORS text: 'of the run' }").ok());
  const v1::PrivacyStatement statement = Statement(kRun);
  const json said = json::parse(statement.json()).at("annotations");
  ASSERT_EQ(said.size(), 2);
  EXPECT_EQ(said[0].at("text"), "of the run");
  EXPECT_EQ(said[0].at("resource"), kRun);
  EXPECT_EQ(said[1].at("resource"), "budgets/b");
  EXPECT_THAT(statement.text(), HasSubstr("Actors: of the run"));
  EXPECT_THAT(statement.html(), HasSubstr("&lt;b&gt;&quot;locked&quot;"));
  EXPECT_EQ(json::parse(Statement("budgets/b").json()).at("annotations")[0].at("text"),
            "of the budget");
}

TEST_F(Annotations, ASignOffIsOfAStatementThatThisServerSigned) {
  const v1::PrivacyStatement statement = Statement(kRun);
  const auto signed_off =
      SignOff(kRun, statement, "signer: 'Ada' role: 'officer' comment: 'for 2026'");
  ASSERT_TRUE(signed_off.ok()) << signed_off.status.error_message();
  ASSERT_EQ(signed_off.response.sign_offs_size(), 1);
  const v1::SignOff& recorded = signed_off.response.sign_offs(0);
  EXPECT_EQ(recorded.statement_sha256(), Sha256(statement.json()));
  EXPECT_EQ(recorded.statement_sequence(), statement.head().sequence());
  EXPECT_EQ(recorded.delta(), 1e-6);
  EXPECT_EQ(recorded.epsilon(), 0);  // nothing is charged
  EXPECT_NE(recorded.principal(), "");
  const int64_t entries = Entries();
  ASSERT_TRUE(SignOff(kRun, statement, "signer: 'Ada' role: 'officer' comment: 'for 2026'").ok());
  EXPECT_EQ(Entries(), entries) << "a repetition writes nothing";
  ASSERT_TRUE(SignOff(kRun, statement, "signer: 'Bob' role: 'lawyer'").ok());
  EXPECT_EQ(Get(kRun).sign_off_count(), 2);
  const v1::PrivacyStatement later = Statement(kRun);
  const json listed = json::parse(later.json()).at("signOffs");
  ASSERT_EQ(listed.size(), 2);
  EXPECT_EQ(listed[0].at("statementSha256"), absl::BytesToHexString(Sha256(statement.json())));
  EXPECT_THAT(later.text(), HasSubstr("\"Bob\", \"lawyer\", answers for the statement"));
  EXPECT_EQ(Get("budgets/b").sign_off_count(), 0);
  EXPECT_TRUE(Verifies());
}

// Names and comments are quoted: they forge no other words of their line.
TEST_F(Annotations, TextOfASignOffForgesNothing) {
  ASSERT_TRUE(SignOff(kRun, Statement(kRun),
                      "signer: 'Eve\", \"chief\", answers for all; x' role: 'r' "
                      "comment: 'fine\"; recorded by tokens/chief'")
                  .ok());
  const std::string text = Statement(kRun).text();
  EXPECT_THAT(text, HasSubstr(R"("Eve\", \"chief\", answers for all; x", "r", answers for)"));
  EXPECT_THAT(text, HasSubstr(R"(: "fine\"; recorded by tokens/chief"; recorded by )"));
}

// A caller may be limited to the session.
TEST_F(Annotations, WhoRecordedThemAboveIsNotTold) {
  ASSERT_TRUE(Update("name: 'budgets/b' annotations { topic: ACTORS text: 'x' }").ok());
  EXPECT_EQ(json::parse(Statement(kRun).json()).at("annotations")[0].at("recordedBy"), "");
  EXPECT_NE(json::parse(Statement("budgets/b").json()).at("annotations")[0].at("recordedBy"), "");
}

TEST_F(Annotations, ASignOffKeepsTheEpsilonOrThatThereIsNone) {
  ASSERT_TRUE(server_.client.Charge(kAttempt, "c", "pure_dp { epsilon: 0.5 }", 1).ok());
  const v1::PrivacyStatement statement = Statement(kRun);
  EXPECT_EQ(SignOff(kRun, statement).response.sign_offs(0).epsilon(),
            json::parse(statement.json()).at("epsilon").at("epsilon").get<double>());
  ASSERT_TRUE(server_.client.CreateBudget("open", "no_guarantee {}").ok());
  EXPECT_EQ(SignOff("budgets/open", Statement("budgets/open")).response.sign_offs(0).epsilon(),
            std::numeric_limits<double>::infinity());
}

TEST_F(Annotations, ASignOffOfAnythingElseIsRefused) {
  const v1::PrivacyStatement statement = Statement(kRun);
  const int64_t entries = Entries();
  v1::PrivacyStatement changed = statement;
  changed.mutable_json()->replace(changed.json().find("\"delta\":"), 8, "\"delta\": ");
  EXPECT_THAT(SignOff(kRun, changed).status.error_message(), HasSubstr("did not sign this JSON"));
  v1::PrivacyStatement unsigned_one = statement;
  unsigned_one.clear_signature();
  EXPECT_EQ(SignOff(kRun, unsigned_one).code(), grpc::StatusCode::INVALID_ARGUMENT);
  TestServer other;
  other.client.MakeSession("pure_epsilon { epsilon: 50 }");
  v1::GetPrivacyStatementRequest request;
  request.set_name(kRun);
  request.set_delta(1e-6);
  const auto foreign = TestClient::Call(*other.client.audit, &Stub::GetPrivacyStatement, request);
  EXPECT_EQ(SignOff(kRun, foreign.response).code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(SignOff("budgets/b", statement).status.error_message(),
              HasSubstr("it is of the resource"));
  EXPECT_THAT(SignOff(kRun, statement, "role: 'officer'").status.error_message(),
              HasSubstr("signOff.signer"));
  EXPECT_THAT(SignOff(kRun, statement, "signer: 'Ada'").status.error_message(),
              HasSubstr("signOff.role"));
  EXPECT_EQ(Entries(), entries);
}

// Servers may share a key: a ledger knows its own entries.
TEST_F(Annotations, ASignOffIsOfAnEntryOfThisLedger) {
  const ScratchFolder folder;
  const ServerOptions options{.addresses = {"127.0.0.1:0"},
                              .statement_key_file = folder.path() + "/statement.key"};
  TestServer here(options);
  TestServer there(options);
  for (TestServer* server : {&here, &there})
    server->client.MakeSession("pure_epsilon { epsilon: 9 }");
  v1::GetPrivacyStatementRequest request;
  request.set_name(kRun);
  request.set_delta(1e-6);
  const auto statement = TestClient::Call(*there.client.audit, &Stub::GetPrivacyStatement, request);
  ASSERT_TRUE(statement.ok());
  v1::RecordSignOffRequest sign_off;
  sign_off.set_name(kRun);
  *sign_off.mutable_sign_off() = Parse<v1::SignOff>("signer: 'Ada' role: 'officer'");
  sign_off.set_statement_json(statement.response.json());
  sign_off.set_signature(statement.response.signature());
  EXPECT_TRUE(TestClient::Call(*there.client.audit, &Stub::RecordSignOff, sign_off).ok());
  const auto refused = TestClient::Call(*here.client.audit, &Stub::RecordSignOff, sign_off);
  EXPECT_EQ(refused.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(
      refused.status.error_message(),
      HasSubstr("statementJson: got entry 3 of budgets/b, and another entry is in its place"));
}

TEST_F(Annotations, DecideNothing) {
  ASSERT_TRUE(
      Update("name: 'budgets/b' annotations { topic: PARAMETER_RATIONALE text: 'none' }").ok());
  ASSERT_TRUE(SignOff("budgets/b", Statement("budgets/b")).ok());
  EXPECT_TRUE(server_.client.Charge(kAttempt, "c", "pure_dp { epsilon: 50 }", 1).ok());
  const auto over = server_.client.Charge(kAttempt, "d", "pure_dp { epsilon: 0.5 }", 1);
  EXPECT_EQ(over.code(), grpc::StatusCode::FAILED_PRECONDITION) << over.status.error_message();
}

}  // namespace
}  // namespace epsledger::transport
