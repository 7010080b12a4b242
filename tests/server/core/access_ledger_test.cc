// The ledger of access: tokens and how many of them, quarantines begun and lifted; all of it
// replayed.

#include "server/core/access_ledger.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "server/core/codec.h"
#include "server/core/limits.h"

namespace epsledger::core {
namespace {

using ::testing::HasSubstr;

class AccessLedgerTest : public ::testing::Test {
 protected:
  absl::StatusOr<AccessOutcome> Run(AccessCommand command) {
    return ledger_.Execute(command, ++time_, std::nullopt, [this](const Entry& entry) {
      entries_.push_back(entry);
      return absl::OkStatus();
    });
  }
  absl::Status Begin(const std::string& root_id, int64_t sequence,
                     const std::string& incarnation = "present") {
    return Run({BeginQuarantine{{root_id, sequence, std::string(32, 'x'), incarnation}}}).status();
  }
  bool IsKnown(int64_t sequence, const std::string& incarnation) const {
    return ledger_.lost_entries().at("acme/people").Cover(incarnation, sequence, "present");
  }
  absl::StatusOr<AccessOutcome> Lift(const std::string& root_id) {
    return Run({LiftQuarantine{root_id, {"tokens/1", {}}, "charged by hand"}});
  }
  absl::StatusOr<AccessOutcome> Create(const std::string& tenant, int64_t expire_time,
                                       bool beyond_limit = false) {
    const std::string id = absl::StrFormat("%06d", ++made_);
    CreateToken create{.spec = {.id = id,
                                .tenant = tenant,
                                .expire_time_micros = expire_time,
                                .secret_hash = std::string(26, 'x') + id},
                       .beyond_limit = beyond_limit};
    return Run({std::move(create)});
  }
  absl::StatusOr<AccessOutcome> Revoke(const std::string& tenant, const std::string& id) {
    return Run({RevokeToken{{tenant}, id}});
  }
  // What is stored leads to the same state, byte for byte of what is encoded.
  void ExpectReplay() const {
    AccessLedger replayed;
    for (const Entry& entry : entries_) ASSERT_TRUE(replayed.Apply(entry).ok());
    EXPECT_EQ(replayed.head(), ledger_.head());
    ASSERT_EQ(replayed.tokens().size(), ledger_.tokens().size());
    for (const auto& [hash, token] : ledger_.tokens()) {
      const Token& other = replayed.tokens().at(hash);
      EXPECT_EQ(other.spec.id, token.spec.id);
      EXPECT_EQ(other.spec.tenant, token.spec.tenant);
      EXPECT_EQ(other.revoked, token.revoked);
      EXPECT_EQ(other.grants, token.grants);
      EXPECT_EQ(other.login_of, token.login_of);
    }
    ASSERT_EQ(replayed.lost_entries().size(), ledger_.lost_entries().size());
    for (const auto& [root_id, lost] : ledger_.lost_entries()) {
      const LostEntries& other = replayed.lost_entries().at(root_id);
      EXPECT_EQ(other.in_quarantine, lost.in_quarantine);
      EXPECT_EQ(other.lost_through, lost.lost_through);
      EXPECT_EQ(other.entry_count, lost.entry_count);
      EXPECT_EQ(other.lifted_by, lost.lifted_by);
    }
  }

  AccessLedger ledger_;
  std::vector<Entry> entries_;
  int64_t time_ = 0;
  int made_ = 0;
};

constexpr int64_t kNever = int64_t{1} << 60;

TEST_F(AccessLedgerTest, ATenantsTokensInForceAreCountedAndNobodyElses) {
  for (int64_t i = 0; i < kMaxLivingTokens - 1; ++i) ASSERT_TRUE(Create("acme", kNever).ok());
  const int64_t soon = time_ + 10;
  ASSERT_TRUE(Create("acme", soon).ok());
  const absl::Status full = Create("acme", kNever).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(full.message()), HasSubstr("10000 that are in force"));
  EXPECT_TRUE(Create("globex", kNever).ok()) << "another tenant has none";
  // Expired at its very instant, as access::IsActive sees it: there is room for one.
  while (time_ < soon - 2) EXPECT_FALSE(Create("acme", kNever).ok()) << time_;
  EXPECT_FALSE(Create("acme", kNever).ok());
  EXPECT_EQ(time_, soon - 1);
  EXPECT_TRUE(Create("acme", kNever).ok());
  EXPECT_FALSE(Create("acme", kNever).ok());
  // Revoked: room for another one.
  ASSERT_TRUE(Revoke("acme", "000001").ok());
  EXPECT_TRUE(Create("acme", kNever).ok());
  EXPECT_FALSE(Create("acme", kNever).ok());
  EXPECT_TRUE(Create("acme", kNever, /*beyond_limit=*/true).ok()) << "the operator's";
  ExpectReplay();
}

// A token of a ledger that lost its grants would open the whole tenant.
TEST_F(AccessLedgerTest, ATokenKeepsItsGrantsThroughTheEncoding) {
  const std::vector<Grant> grants = {{"people", "", {"ChargeService.Charge"}},
                                     {"people", "first", {}}};
  const TokenSpec spec{.id = "t",
                       .tenant = "acme",
                       .expire_time_micros = kNever,
                       .secret_hash = std::string(32, 'x')};
  ASSERT_TRUE(Run({CreateToken{.spec = spec, .grants = grants}}).ok());
  ASSERT_TRUE(Create("acme", kNever).ok());
  EXPECT_EQ(ledger_.FindToken({"acme"}, "t")->grants, grants);
  ExpectReplay();
  AccessLedger read_again;
  for (const Entry& entry : entries_) {
    const absl::StatusOr<Entry> decoded = DecodeEntry(entry.content, entry.hash);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_TRUE(read_again.Apply(*decoded).ok());
  }
  EXPECT_EQ(read_again.FindToken({"acme"}, "t")->grants, grants);

  Entry without{.sequence = ledger_.head().sequence + 1,
                .time_micros = ++time_,
                .body = LimitedTokenCreated{
                    .spec = {.id = "u", .secret_hash = std::string(32, 'y')}, .grants = {}}};
  without.content = EncodeContent(without.sequence, without.time_micros, without.body);
  without.hash = ChainHash(ledger_.head().hash, without.content);
  EXPECT_EQ(ledger_.Apply(without).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ledger_.tokens().size(), 2u);
}

TEST_F(AccessLedgerTest, ALoginIsItsTokenUntilEitherEnds) {
  const std::vector<Grant> grants = {{"people", "", {}}};
  const TokenSpec spec{.id = "t",
                       .tenant = "acme",
                       .role = Role::kTrainer,
                       .expire_time_micros = 1'000,
                       .secret_hash = std::string(32, 'x')};
  ASSERT_TRUE(Run({CreateToken{.spec = spec, .grants = grants}}).ok());
  const auto login = [&](const std::string& id, int64_t expire, const std::string& of = "t",
                         const std::string& tenant = "acme") {
    return Run({CreateLogin{.tenant = {tenant},
                            .token_id = of,
                            .id = id,
                            .secret_hash = std::string(32 - id.size(), '-') + id,
                            .expire_time_micros = expire}});
  };
  ASSERT_TRUE(login("l1", 500).ok());
  const Token first = *ledger_.FindToken({"acme"}, "l1");
  EXPECT_EQ(first.login_of, "t");
  EXPECT_EQ(first.spec.role, Role::kTrainer);
  EXPECT_EQ(first.grants, grants);
  EXPECT_EQ(first.spec.expire_time_micros, 500);
  // Never beyond its token.
  ASSERT_TRUE(login("l2", kNever).ok());
  EXPECT_EQ(ledger_.FindToken({"acme"}, "l2")->spec.expire_time_micros, 1'000);
  EXPECT_EQ(login("l3", 500, "l1").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(login("l3", 500, "t", "rival").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(login("l3", 500, "u").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(login("l1", 500).status().code(), absl::StatusCode::kAlreadyExists);
  // Ending one leaves the others.
  ASSERT_TRUE(Revoke("acme", "l1").ok());
  EXPECT_TRUE(ledger_.FindToken({"acme"}, "l1")->revoked);
  EXPECT_FALSE(ledger_.FindToken({"acme"}, "l2")->revoked);
  EXPECT_FALSE(ledger_.FindToken({"acme"}, "t")->revoked);
  ExpectReplay();
  // Further ones end the oldest.
  for (size_t i = 0; i < kMaxLogins + 5; ++i)
    ASSERT_TRUE(login(absl::StrFormat("m%d", i), 500).ok());
  EXPECT_EQ(ledger_.tokens().size(), 1 + kMaxLogins);
  EXPECT_EQ(ledger_.FindToken({"acme"}, "l2"), nullptr);
  EXPECT_EQ(ledger_.FindToken({"acme"}, "m4"), nullptr);
  EXPECT_NE(ledger_.FindToken({"acme"}, "m5"), nullptr);
  ExpectReplay();
  // With the token they are gone.
  ASSERT_TRUE(Revoke("acme", "t").ok());
  EXPECT_EQ(ledger_.tokens().size(), 1u);
  EXPECT_EQ(login("l9", 500).status().code(), absl::StatusCode::kFailedPrecondition);
  ExpectReplay();
}

TEST_F(AccessLedgerTest, ALoginOfATokenThatHasExpiredIsNoMore) {
  ASSERT_TRUE(Create("acme", 20).ok());
  const std::string token = "000001";
  ASSERT_TRUE(Run({CreateLogin{.tenant = {"acme"},
                               .token_id = token,
                               .id = "l",
                               .secret_hash = std::string(32, 'l'),
                               .expire_time_micros = kNever}})
                  .ok());
  time_ = 30;
  ASSERT_TRUE(Create("acme", kNever).ok());  // ends those that have expired
  EXPECT_EQ(ledger_.FindToken({"acme"}, "l"), nullptr);
  EXPECT_EQ(Run({CreateLogin{.tenant = {"acme"},
                             .token_id = token,
                             .id = "m",
                             .secret_hash = std::string(32, 'm'),
                             .expire_time_micros = kNever}})
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
  ExpectReplay();
}

// A stored login that is more than its token is damage, not a way in.
TEST_F(AccessLedgerTest, ALoginThatItsTokenDoesNotAllowIsDamage) {
  const TokenSpec spec{.id = "t",
                       .tenant = "acme",
                       .role = Role::kViewer,
                       .expire_time_micros = 1'000,
                       .secret_hash = std::string(32, 'x')};
  ASSERT_TRUE(Run({CreateToken{.spec = spec, .grants = {{"people", "", {}}}}}).ok());
  const auto apply = [&](LoginCreated login) {
    Entry entry{
        .sequence = ledger_.head().sequence + 1, .time_micros = 9, .body = std::move(login)};
    entry.content = EncodeContent(entry.sequence, entry.time_micros, entry.body);
    entry.hash = ChainHash(ledger_.head().hash, entry.content);
    return ledger_.Apply(entry).code();
  };
  LoginCreated good{.spec = spec, .grants = {{"people", "", {}}}, .login_of = "t"};
  good.spec.id = "l";
  good.spec.secret_hash = std::string(32, 'l');
  for (const auto& change : std::vector<std::function<void(LoginCreated&)>>{
           [](LoginCreated& login) { login.spec.role = Role::kAdmin; },
           [](LoginCreated& login) { login.spec.tenant = "rival"; },
           [](LoginCreated& login) { login.spec.expire_time_micros = 1'001; },
           [](LoginCreated& login) { login.grants.clear(); },
           [](LoginCreated& login) { login.login_of = "u"; },
           [](LoginCreated& login) { login.spec.secret_hash = std::string(32, 'x'); },
           [](LoginCreated& login) { login.spec.id = "t"; },
       }) {
    LoginCreated login = good;
    change(login);
    EXPECT_EQ(apply(login), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(apply(good), absl::StatusCode::kOk);
}

TEST_F(AccessLedgerTest, MakingAndRevokingWithoutEndNeedsABoundedMemory) {
  constexpr int kMore = 5;
  ASSERT_TRUE(Create("globex", time_ + 2).ok());
  for (size_t i = 0; i < kMaxEndedTokens + kMore; ++i) {
    const auto made = Create("acme", kNever);
    ASSERT_TRUE(made.ok()) << made.status();
    const auto revoked = Revoke("acme", made->token.spec.id);
    ASSERT_TRUE(revoked.ok()) << revoked.status();
    EXPECT_TRUE(revoked->token.revoked);
  }
  EXPECT_EQ(ledger_.tokens().size(), kMaxEndedTokens + 1);
  EXPECT_NE(ledger_.FindToken({"globex"}, "000001"), nullptr) << "expired, of another tenant";
  // The oldest are forgotten: their secrets are those of nobody.
  EXPECT_EQ(ledger_.FindToken({"acme"}, "000006"), nullptr);
  EXPECT_EQ(Revoke("acme", "000006").status().code(), absl::StatusCode::kNotFound);
  const Token* kept = ledger_.FindToken({"acme"}, "000007");
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->revoked);
  // One that has expired may still be revoked, once.
  ASSERT_TRUE(Revoke("globex", "000001").ok());
  EXPECT_TRUE(ledger_.FindToken({"globex"}, "000001")->revoked);
  ExpectReplay();
}

TEST_F(AccessLedgerTest, AQuarantineIsBegunOnceForEachEntryAndLiftedOnce) {
  EXPECT_EQ(Lift("acme/people").status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Begin("acme/people", 7).ok());
  EXPECT_TRUE(ledger_.IsInQuarantine("acme/people"));
  EXPECT_FALSE(ledger_.IsInQuarantine("people")) << "of another tenant";
  ASSERT_TRUE(Begin("acme/people", 7).ok());
  EXPECT_EQ(entries_.size(), 1u) << "it is known";
  ASSERT_TRUE(Begin("acme/people", 9).ok());
  EXPECT_EQ(entries_.size(), 2u);
  const auto lifted = Lift("acme/people");
  ASSERT_TRUE(lifted.ok()) << lifted.status();
  EXPECT_EQ(lifted->lost_entry_count, 2);
  EXPECT_FALSE(ledger_.IsInQuarantine("acme/people"));
  const absl::Status again = Lift("acme/people").status();
  EXPECT_EQ(again.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(again.message()), HasSubstr("budgets/people"));
  ExpectReplay();
}

TEST_F(AccessLedgerTest, AnIncarnationThatHasEndedLostWhatItLostTogether) {
  ASSERT_TRUE(Begin("acme/people", 7).ok());
  ASSERT_TRUE(Begin("acme/people", 5, "earlier").ok());
  ASSERT_TRUE(Lift("acme/people").ok());
  // The present one knows what was brought, and what comes before it.
  EXPECT_TRUE(IsKnown(7, "present"));
  EXPECT_TRUE(IsKnown(3, "present"));
  EXPECT_FALSE(IsKnown(8, "present")) << "it may be another loss";
  EXPECT_TRUE(IsKnown(1000, "earlier"));
  EXPECT_FALSE(IsKnown(1, "another"));
  EXPECT_FALSE(IsKnown(1, ""));
  ASSERT_TRUE(Begin("acme/people", 8).ok());
  EXPECT_TRUE(ledger_.IsInQuarantine("acme/people"));
  ExpectReplay();
}

TEST_F(AccessLedgerTest, HeadsThatSayNoIncarnationAreKnownUpToTheHighest) {
  ASSERT_TRUE(Begin("acme/people", 7, "").ok());
  ASSERT_TRUE(Lift("acme/people").ok());
  EXPECT_TRUE(IsKnown(7, ""));
  EXPECT_FALSE(IsKnown(8, ""));
}

TEST_F(AccessLedgerTest, OneQuarantineHasSoManyEntries) {
  for (int64_t sequence = 1; sequence <= kMaxLostEntries + 10; ++sequence) {
    ASSERT_TRUE(Begin("people", sequence).ok());
  }
  EXPECT_EQ(static_cast<int64_t>(entries_.size()), kMaxLostEntries) << "no more are written";
  ASSERT_TRUE(Lift("people").ok());
  ASSERT_TRUE(Begin("people", kMaxLostEntries + 5).ok());
  EXPECT_TRUE(ledger_.IsInQuarantine("people"));
  ExpectReplay();
}

TEST_F(AccessLedgerTest, AnEntryThatLiftsNothingIsDamage) {
  ASSERT_TRUE(Begin("people", 1).ok());
  ASSERT_TRUE(Lift("people").ok());
  AccessLedger other;
  ASSERT_TRUE(other.Apply(entries_[0]).ok());
  ASSERT_TRUE(other.Apply(entries_[1]).ok());
  Entry forged = entries_[1];
  EXPECT_EQ(other.Apply(forged).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace epsledger::core
