// The audit side over gRPC: what a server says of its ledgers holds against an auditor's own
// checks.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "client/cli/verify/merkle_proof.h"
#include "client/cli/verify/statement_check.h"
#include "epsledger/v1/server_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/core/naive_merkle.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;
using Stub = v1::AuditService::Stub;

class AuditRpc : public ::testing::Test {
 protected:
  AuditRpc() { server_.client.MakeSession("pure_epsilon { epsilon: 50 }"); }
  TestClient& client() { return server_.client; }

  void ChargeSome(int from, int to) {
    for (int i = from; i < to; ++i) {
      ASSERT_TRUE(
          client().Charge(kAttempt, "c" + std::to_string(i), "pure_dp { epsilon: 0.01 }", 1).ok());
    }
  }
  v1::LedgerHead Head() {
    return TestClient::Call(*client().audit, &Stub::GetLedgerHead,
                            Parse<v1::GetLedgerHeadRequest>("budget: 'budgets/b'"))
        .response;
  }
  Reply<v1::ListAuditEntriesResponse> List(int64_t after, int32_t size) {
    v1::ListAuditEntriesRequest request;
    request.set_budget("budgets/b");
    request.set_after_sequence(after);
    request.set_page_size(size);
    return TestClient::Call(*client().audit, &Stub::ListAuditEntries, request);
  }
  std::vector<std::string> Contents() {
    std::vector<std::string> contents;
    const auto page = List(0, 1000);
    EXPECT_TRUE(page.ok()) << page.status.error_message();
    for (const auto& entry : page.response.entries()) contents.push_back(entry.content());
    return contents;
  }
  // All entries after `after`, and how the stream ended.
  grpc::Status Export(int64_t after, std::vector<v1::AuditEntry>* entries,
                      const std::string& budget = "budgets/b") {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    v1::ExportLedgerRequest request;
    request.set_budget(budget);
    request.set_after_sequence(after);
    const auto stream = client().audit->ExportLedger(&context, request);
    v1::AuditEntry entry;
    while (stream->Read(&entry)) entries->push_back(entry);
    return stream->Finish();
  }

  TestServer server_;
};

TEST_F(AuditRpc, HeadHasTheMerkleRootOfAllContents) {
  ChargeSome(0, 7);
  const v1::LedgerHead head = Head();
  const std::vector<std::string> contents = Contents();
  EXPECT_EQ(head.root_budget(), "budgets/b");
  EXPECT_EQ(head.sequence(), static_cast<int64_t>(contents.size()));
  EXPECT_EQ(head.merkle_root(), naive::Root(contents));
}

TEST_F(AuditRpc, PagesOfEntriesFollowOneAnotherAndDescribeThemselves) {
  ChargeSome(0, 5);
  const v1::LedgerHead head = Head();
  std::string previous(32, '\0');
  int64_t after = 0;
  while (after < head.sequence()) {
    const auto page = List(after, 2);
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    EXPECT_EQ(page.response.last_sequence(), head.sequence());
    ASSERT_GT(page.response.entries_size(), 0);
    for (const v1::AuditEntry& entry : page.response.entries()) {
      EXPECT_EQ(entry.sequence(), ++after);
      EXPECT_EQ(entry.previous_hash(), previous);
      EXPECT_TRUE(cli::IsValid(entry));
      EXPECT_NE(entry.description(), "");
      previous = entry.hash();
    }
  }
  EXPECT_EQ(previous, head.hash());
  EXPECT_EQ(List(head.sequence(), 5).response.entries_size(), 0);
  EXPECT_THAT(List(0, 1).response.entries(0).description(), HasSubstr("budget b created"));
}

TEST_F(AuditRpc, ProofsHoldAtEverySize) {
  ChargeSome(0, 12);
  const std::vector<std::string> contents = Contents();
  const auto size = static_cast<int64_t>(contents.size());
  for (int64_t tree = 1; tree <= size; ++tree) {
    const naive::Leaves leaves = naive::Slice(contents, 0, static_cast<size_t>(tree));
    for (int64_t n = 1; n <= tree; ++n) {
      v1::ProveInclusionRequest inclusion;
      inclusion.set_budget("budgets/b");
      inclusion.set_sequence(n);
      inclusion.set_tree_size(tree == size ? 0 : tree);
      const auto proof = TestClient::Call(*client().audit, &Stub::ProveInclusion, inclusion);
      ASSERT_TRUE(proof.ok()) << proof.status.error_message();
      EXPECT_TRUE(cli::IsValid(proof.response)) << n << " of " << tree;
      EXPECT_EQ(proof.response.merkle_root(), naive::Root(leaves));
      EXPECT_EQ(proof.response.leaf_hash(), cli::LeafHash(contents[static_cast<size_t>(n) - 1]));
      v1::ProveConsistencyRequest consistency;
      consistency.set_budget("budgets/b");
      consistency.set_old_size(n);
      consistency.set_new_size(tree);
      const auto grown = TestClient::Call(*client().audit, &Stub::ProveConsistency, consistency);
      ASSERT_TRUE(grown.ok()) << grown.status.error_message();
      EXPECT_TRUE(cli::IsValid(grown.response)) << n << " to " << tree;
      EXPECT_EQ(grown.response.new_merkle_root(), naive::Root(leaves));
    }
  }
}

TEST_F(AuditRpc, ProofsBeyondTheLedgerAreInvalid) {
  const std::string beyond = std::to_string(Head().sequence() + 1);
  for (const std::string& fields : {"sequence: " + beyond, "sequence: 1 tree_size: " + beyond,
                                    std::string("sequence: 2 tree_size: 1")}) {
    EXPECT_EQ(TestClient::Call(*client().audit, &Stub::ProveInclusion,
                               Parse<v1::ProveInclusionRequest>("budget: 'budgets/b' " + fields))
                  .code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << fields;
  }
}

TEST_F(AuditRpc, VerifyReplaysEverything) {
  ChargeSome(0, 250);  // more than two pages
  const auto reply = TestClient::Call(*client().audit, &Stub::VerifyLedger,
                                      Parse<v1::VerifyLedgerRequest>("budget: 'budgets/b'"));
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  EXPECT_TRUE(reply.response.valid()) << reply.response.problem();
  EXPECT_EQ(reply.response.first_bad_sequence(), 0);
  EXPECT_EQ(reply.response.head().SerializeAsString(), Head().SerializeAsString());
  EXPECT_EQ(TestClient::Call(*client().audit, &Stub::VerifyLedger,
                             Parse<v1::VerifyLedgerRequest>("budget: 'budgets/none'"))
                .code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(AuditRpc, ExportIsTheWholeLedgerOrItsRest) {
  ChargeSome(0, 250);
  const v1::LedgerHead head = Head();
  for (const int64_t after : {int64_t{0}, int64_t{1}, int64_t{120}, head.sequence()}) {
    std::vector<v1::AuditEntry> entries;
    const grpc::Status status = Export(after, &entries);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(static_cast<int64_t>(entries.size()), head.sequence() - after);
    for (size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].sequence(), after + static_cast<int64_t>(i) + 1);
      EXPECT_TRUE(cli::IsValid(entries[i]));
      if (i > 0) {
        EXPECT_EQ(entries[i].previous_hash(), entries[i - 1].hash());
      }
    }
    if (!entries.empty()) {
      EXPECT_EQ(entries.back().hash(), head.hash());
    }
  }
  std::vector<v1::AuditEntry> none;
  EXPECT_EQ(Export(0, &none, "budgets/none").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Export(0, &none, "b").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Export(-1, &none).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(AuditRpc, ExportWhileChargesGoOnIsAPrefix) {
  ChargeSome(0, 150);
  std::atomic<bool> stop = false;
  std::thread charges([&] {
    for (int i = 1000; !stop; ++i) ChargeSome(i, i + 1);
  });
  for (int round = 0; round < 5; ++round) {
    const int64_t before = Head().sequence();
    std::vector<v1::AuditEntry> entries;
    EXPECT_TRUE(Export(0, &entries).ok());
    EXPECT_GE(static_cast<int64_t>(entries.size()), before);
    std::string previous(32, '\0');
    for (const v1::AuditEntry& entry : entries) {
      EXPECT_EQ(entry.previous_hash(), previous);
      EXPECT_TRUE(cli::IsValid(entry));
      previous = entry.hash();
    }
  }
  stop = true;
  charges.join();
}

TEST_F(AuditRpc, CancelledExportEndsAndTheServerGoesOn) {
  ChargeSome(0, 300);
  for (int round = 0; round < 20; ++round) {
    grpc::ClientContext context;
    v1::ExportLedgerRequest request;
    request.set_budget("budgets/b");
    const auto stream = client().audit->ExportLedger(&context, request);
    v1::AuditEntry entry;
    ASSERT_TRUE(stream->Read(&entry));
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  ChargeSome(400, 401);
}

TEST_F(AuditRpc, ExportToAClientThatTakesNothingDoesNotHoldAStopUp) {
  // More than flow control lets through unread.
  const std::string text(250, 'x');
  for (int i = 0; i < 600; ++i) {
    const auto update = TestClient::Call(
        *client().budgets, &v1::BudgetService::Stub::UpdateBudget,
        Parse<v1::UpdateBudgetRequest>("budget { name: 'budgets/b' display_name: '" + text +
                                       std::to_string(i % 2) +
                                       "' } update_mask { paths: "
                                       "'display_name' }"));
    ASSERT_TRUE(update.ok()) << update.status.error_message();
  }
  grpc::ClientContext context;
  v1::ExportLedgerRequest request;
  request.set_budget("budgets/b");
  TestClient reader(NarrowChannelTo(*server_.server));
  const auto stream = reader.audit->ExportLedger(&context, request);
  v1::AuditEntry entry;
  ASSERT_TRUE(stream->Read(&entry));
  server_.server->Drain(absl::ZeroDuration());  // returns: that is the test
  while (stream->Read(&entry)) {
  }
  EXPECT_FALSE(stream->Finish().ok());
}

TEST_F(AuditRpc, StatementIsSignedByTheKeyThatTheServerNames) {
  ChargeSome(0, 3);
  const auto service = v1::ServerService::NewStub(client().channel);
  const auto info = TestClient::Call(*service, &v1::ServerService::Stub::GetServerInfo,
                                     v1::GetServerInfoRequest());
  ASSERT_TRUE(info.ok()) << info.status.error_message();
  EXPECT_EQ(info.response.storage(), "memory");
  EXPECT_NE(info.response.version(), "");
  EXPECT_EQ(info.response.budget_count(), 1);
  EXPECT_EQ(info.response.session_count(), 1);
  EXPECT_EQ(info.response.entry_count(), Head().sequence());
  for (const char* name : {"budgets/b", "budgets/b/sessions/s"}) {
    const auto statement = TestClient::Call(
        *client().audit, &Stub::GetPrivacyStatement,
        Parse<v1::GetPrivacyStatementRequest>("delta: 1e-6 name: '" + std::string(name) + "'"));
    ASSERT_TRUE(statement.ok()) << statement.status.error_message();
    const absl::Status status =
        cli::CheckStatement(statement.response, info.response.statement_public_key());
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(statement.response.text(), HasSubstr(name));
    EXPECT_EQ(statement.response.head().SerializeAsString(), Head().SerializeAsString());
  }
  for (const char* bad :
       {"name: 'budgets/none' delta: 0.1", "name: 'budgets/b/sessions/none' delta: 0.1"}) {
    EXPECT_EQ(TestClient::Call(*client().audit, &Stub::GetPrivacyStatement,
                               Parse<v1::GetPrivacyStatementRequest>(bad))
                  .code(),
              grpc::StatusCode::NOT_FOUND);
  }
}

}  // namespace
}  // namespace epsledger::transport
