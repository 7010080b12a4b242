#ifndef EPSLEDGER_SERVER_CORE_ACCESS_LEDGER_H_
#define EPSLEDGER_SERVER_CORE_ACCESS_LEDGER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/access_command.h"
#include "server/core/entry.h"
#include "server/core/tenant.h"

namespace epsledger::core {

// Tokens by the SHA-256 of their secrets.
using TokenTable = std::map<std::string, Token, std::less<>>;

// What is known of entries that a ledger lost.
struct LostEntries {
  // The ledger takes no commands.
  bool in_quarantine = false;
  // Those that were brought in this quarantine, at most kMaxLostEntries.
  int64_t entry_count = 0;
  // By incarnation: the highest sequence number that was brought, ever.
  std::map<std::string, int64_t> lost_through;
  // Who lifted it last. Empty: nobody.
  std::string lifted_by;
  // If two people lift the quarantine: what the first of them said.
  std::optional<QuarantineLiftProposed> lift_proposed = std::nullopt;

  // An entry that the ledger does not hold is one of those that are known to be lost. An
  // incarnation that has ended gives out nothing more: all that it lost was lost together. Of the
  // present one what was brought is known, and what comes before it.
  bool Cover(const std::string& incarnation, int64_t sequence, std::string_view present) const {
    const auto through = lost_through.find(incarnation);
    if (through == lost_through.end()) return false;
    return sequence <= through->second || (!incarnation.empty() && incarnation != present);
  }
};

// The ledger of who may come in: tokens made and revoked, calls denied, ledgers put in quarantine
// and let out of it. A pure state machine with a hash chain of its own, as core::Ledger is. Denials
// are entries and no state: their number has no bound.
class AccessLedger {
 public:
  // Decides, then seals and applies each entry, handing each to `store` before it is applied. On an
  // error of `store` the state may be ahead of the store: the caller must stop using this object.
  //   NOT_FOUND           the tenant has no such token
  //   FAILED_PRECONDITION a login of a token that has ended, or is a login itself
  //   ALREADY_EXISTS      the id or the secret is taken
  //   FAILED_PRECONDITION kMaxLivingTokens of the token's tenant neither are revoked nor have
  //   expired FAILED_PRECONDITION the ledger whose quarantine is to be lifted is in none
  //   INVALID_ARGUMENT    a secret's hash that is not one
  // Revoking again changes nothing, nor does a lost entry that is known.
  absl::StatusOr<AccessOutcome> Execute(const AccessCommand& command, int64_t time_micros,
                                        const std::optional<Actor>& actor,
                                        absl::FunctionRef<absl::Status(const Entry&)> store);

  // Advances the state by one sealed entry. DATA_LOSS if it is not the next one, its hash does not
  // follow, or it contradicts the state; the state is then unchanged.
  absl::Status Apply(const Entry& entry);

  // The principal with who made its token, as far as the ledger knows: the tokens of release 0.1
  // say nothing, and those that ended long ago are forgotten.
  Person PersonOf(const Tenant& tenant, std::string principal) const;

  const LedgerHead& head() const { return head_; }
  // The tokens of all tenants: every one that is neither revoked nor expired, and of the ended ones
  // the last kMaxEndedTokens of each tenant; of the logins of one that has not ended, the last
  // kMaxLogins. Never empty once a token was made.
  const TokenTable& tokens() const { return tokens_; }
  // By the StoredId of their roots: ledgers that are or were in quarantine.
  const std::map<std::string, LostEntries, std::less<>>& lost_entries() const {
    return lost_entries_;
  }
  bool IsInQuarantine(std::string_view root_id) const {
    const auto it = lost_entries_.find(root_id);
    return it != lost_entries_.end() && it->second.in_quarantine;
  }
  // The tenant's token, or nullptr.
  const Token* FindToken(const Tenant& tenant, std::string_view token_id) const;
  // The tenant's tokens in order of id, after `after_id`, at most `limit`.
  std::vector<const Token*> TokensOf(const Tenant& tenant, std::string_view after_id,
                                     int64_t limit) const;

 private:
  struct Decision {
    std::vector<EntryBody> entries;
    std::string token_id;          // empty: about no token
    int64_t lost_entry_count = 0;  // of AccessOutcome
    bool is_proposed = false;      // of AccessOutcome
  };
  absl::StatusOr<Decision> DecideOn(const CreateToken& command, int64_t time_micros) const;
  absl::StatusOr<Decision> DecideOn(const CreateLogin& command, int64_t time_micros) const;
  absl::StatusOr<Decision> DecideOn(const RevokeToken& command) const;
  absl::StatusOr<Decision> DecideOn(const RecordDenials& command) const;
  absl::StatusOr<Decision> DecideOn(const BeginQuarantine& command) const;
  absl::StatusOr<Decision> DecideOn(const LiftQuarantine& command, int64_t time_micros) const;

  struct TenantTokens {
    // By expiry, then by id. An expired one is moved when the next one is made.
    std::set<std::pair<int64_t, std::string>> living;
    std::deque<std::string> ended;  // ids, in the order in which they ended
  };
  void End(const TokenSpec& spec, TenantTokens& tokens);
  absl::Status CheckNew(const TokenSpec& spec, const Entry& entry) const;
  void Forget(const std::string& token_id);
  // A token that has ended has no logins.
  void EndLogins(const std::string& token_id);
  absl::Status ApplyLogin(const LoginCreated& login, const Entry& entry);
  absl::Status ApplyCreated(const TokenSpec& spec, const std::vector<Grant>& grants,
                            const Entry& entry);

  TokenTable tokens_;
  std::map<std::string, TenantTokens, std::less<>> tenants_;            // by name
  std::map<std::string, std::string, std::less<>> hash_of_token_;       // by id
  std::map<std::string, std::deque<std::string>, std::less<>> logins_;  // by token id, oldest first
  std::map<std::string, LostEntries, std::less<>> lost_entries_;        // by StoredId
  LedgerHead head_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_ACCESS_LEDGER_H_
