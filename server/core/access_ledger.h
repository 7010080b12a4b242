#ifndef EPSLEDGER_SERVER_CORE_ACCESS_LEDGER_H_
#define EPSLEDGER_SERVER_CORE_ACCESS_LEDGER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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

// The ledger of who may come in: tokens made and revoked, calls denied. A pure state machine with
// a hash chain of its own, as core::Ledger is. Denials are entries and no state: their number has
// no bound.
class AccessLedger {
 public:
  // Decides, then seals and applies each entry, handing each to `store` before it is applied. On an
  // error of `store` the state may be ahead of the store: the caller must stop using this object.
  //   NOT_FOUND           the tenant has no such token
  //   ALREADY_EXISTS      the id or the secret is taken
  //   FAILED_PRECONDITION the ledger holds kMaxTokens
  //   INVALID_ARGUMENT    a secret's hash that is not one
  // Revoking again changes nothing.
  absl::StatusOr<AccessOutcome> Execute(const AccessCommand& command, int64_t time_micros,
                                        absl::FunctionRef<absl::Status(const Entry&)> store);

  // Advances the state by one sealed entry. DATA_LOSS if it is not the next one, its hash does not
  // follow, or it contradicts the state; the state is then unchanged.
  absl::Status Apply(const Entry& entry);

  const LedgerHead& head() const { return head_; }
  // Every token that was ever made, of all tenants.
  const TokenTable& tokens() const { return tokens_; }
  // The tenant's token, or nullptr.
  const Token* FindToken(const Tenant& tenant, std::string_view token_id) const;
  // The tenant's tokens in order of id, after `after_id`, at most `limit`.
  std::vector<const Token*> TokensOf(const Tenant& tenant, std::string_view after_id,
                                     int64_t limit) const;

 private:
  struct Decision {
    std::vector<EntryBody> entries;
    std::string token_id;  // empty: about no token
  };
  absl::StatusOr<Decision> DecideOn(const CreateToken& command) const;
  absl::StatusOr<Decision> DecideOn(const RevokeToken& command) const;
  absl::StatusOr<Decision> DecideOn(const RecordDenials& command) const;

  TokenTable tokens_;
  std::map<std::string, std::string, std::less<>> hash_of_token_;  // by id
  LedgerHead head_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_ACCESS_LEDGER_H_
