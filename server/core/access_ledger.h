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

// The known facts about entries that a ledger lost.
struct LostEntries {
  // The ledger takes no commands.
  bool in_quarantine = false;
  // Lost entries that were reported in this quarantine, at most kMaxLostEntries.
  int64_t entry_count = 0;
  // By incarnation: the highest sequence number that was ever reported.
  std::map<std::string, int64_t> lost_through;
  // Who lifted the quarantine last. Empty: nobody.
  std::string lifted_by;
  // If two people must lift the quarantine: the proposal of the first.
  std::optional<QuarantineLiftProposed> lift_proposed = std::nullopt;

  // True if an entry that the ledger does not hold is known to be lost. An incarnation that has
  // ended creates no more entries, so all its lost entries were lost together. For the present
  // incarnation, only the reported entries and those before them are known to be lost.
  bool Cover(const std::string& incarnation, int64_t sequence, std::string_view present) const {
    const auto through = lost_through.find(incarnation);
    if (through == lost_through.end()) return false;
    return sequence <= through->second || (!incarnation.empty() && incarnation != present);
  }
};

// The ledger of access: tokens created and revoked, calls denied, quarantines begun and lifted. A
// pure state machine with its own hash chain, like core::Ledger. Denials are entries but not state,
// because their number has no bound.
class AccessLedger {
 public:
  // Decides, then seals each entry, passes it to `store` and applies it. After an error of `store`
  // the state may be ahead of the store: the caller must stop using this object.
  //   NOT_FOUND            the tenant has no such token
  //   FAILED_PRECONDITION  a login of a token that has ended or is a login itself; the tenant has
  //                        kMaxLivingTokens tokens that are neither revoked nor expired; the ledger
  //                        whose quarantine is to be lifted is in none
  //   ALREADY_EXISTS       the id or the secret is taken
  //   INVALID_ARGUMENT     the hash of the secret has the wrong length
  // Revoking a token again changes nothing, and neither does reporting a known lost entry.
  absl::StatusOr<AccessOutcome> Execute(const AccessCommand& command, int64_t time_micros,
                                        const std::optional<Actor>& actor,
                                        absl::FunctionRef<absl::Status(const Entry&)> store);

  // Advances the state by one sealed entry. DATA_LOSS if the entry is not the next one, its hash
  // does not follow, or it contradicts the state; the state is then unchanged.
  absl::Status Apply(const Entry& entry);

  // Returns the principal with the makers of its token, as far as the ledger knows them: tokens of
  // release 0.1 have no maker recorded, and tokens that ended long ago are forgotten.
  Person PersonOf(const Tenant& tenant, std::string principal) const;

  const LedgerHead& head() const { return head_; }
  // The tokens of all tenants: every token that is neither revoked nor expired, and the last
  // kMaxEndedTokens ended tokens of each tenant. A token that has not ended keeps its last
  // kMaxLogins logins. Never empty once a token was created.
  const TokenTable& tokens() const { return tokens_; }
  // Ledgers that are or were in quarantine, by the StoredId of their roots.
  const std::map<std::string, LostEntries, std::less<>>& lost_entries() const {
    return lost_entries_;
  }
  bool IsInQuarantine(std::string_view root_id) const {
    const auto it = lost_entries_.find(root_id);
    return it != lost_entries_.end() && it->second.in_quarantine;
  }
  // Returns the tenant's token, or nullptr.
  const Token* FindToken(const Tenant& tenant, std::string_view token_id) const;
  // Returns at most `limit` tokens of the tenant with ids after `after_id`, in order of id.
  std::vector<const Token*> TokensOf(const Tenant& tenant, std::string_view after_id,
                                     int64_t limit) const;

 private:
  struct Decision {
    std::vector<EntryBody> entries;
    std::string token_id;          // empty: the command is about no token
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
    // Ordered by expiry, then by id. Creating a token moves expired ones to `ended`.
    std::set<std::pair<int64_t, std::string>> living;
    std::deque<std::string> ended;  // ids, in the order of their ends
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
