#ifndef EPSLEDGER_SERVER_CORE_ACCESS_COMMAND_H_
#define EPSLEDGER_SERVER_CORE_ACCESS_COMMAND_H_

// The commands of the ledger of access (access_ledger.h).

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/core/actor.h"
#include "server/core/grant.h"
#include "server/core/tenant.h"

namespace epsledger::core {

// The rights of a caller. Each role includes those before it. Numbers as in access_service.proto.
enum class Role : uint8_t { kViewer = 1, kTrainer = 2, kAdmin = 3 };

// The specification of a token; immutable.
struct TokenSpec {
  std::string id;
  std::string tenant;
  Role role = Role::kViewer;
  std::string description;
  int64_t expire_time_micros = 0;
  std::string secret_hash;  // SHA-256, 32 bytes
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("id", s.id);
    v("tenant", s.tenant);
    v("role", s.role);
    v("description", s.description);
    v("expire_time_micros", s.expire_time_micros);
    v("secret_hash", s.secret_hash);
  }
};

// A token in its present state. Only the SHA-256 of its secret is stored.
struct Token {
  TokenSpec spec;
  // The limits of its holder. Empty: no limits within its tenant.
  std::vector<Grant> grants = {};
  // The token that this token is a login of; empty: this is not a login.
  std::string login_of = {};
  int64_t create_time_micros = 0;
  bool revoked = false;
  // Unset: not recorded, or not revoked.
  std::optional<Actor> created_by = std::nullopt;
  std::optional<Actor> revoked_by = std::nullopt;
};

// Calls of one principal to one method that were denied for one reason.
struct DenialCount {
  std::string tenant;  // also empty for unknown callers
  std::string principal;
  std::string method;
  std::string reason;
  int64_t count = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("tenant", s.tenant);
    v("principal", s.principal);
    v("method", s.method);
    v("reason", s.reason);
    v("count", s.count);
  }
};

// An entry of the ledger of `root_id`, a StoredId, with its hash when `incarnation`, a ShortId,
// gave it out. Empty incarnation: not known.
struct NamedEntry {
  std::string root_id;
  int64_t sequence = 0;
  std::string hash;
  std::string incarnation;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("root_id", s.root_id);
    v("sequence", s.sequence);
    v("hash", s.hash);
    v("incarnation", s.incarnation);
  }
};

struct CreateToken {
  TokenSpec spec;
  std::vector<Grant> grants = {};
  // For the operator of the data directory, who must always get access: kMaxLivingTokens does not
  // apply.
  bool beyond_limit = false;
};

// Creates a token that a browser holds instead of `token_id`, with the same tenant, role and
// grants. It ends with that token, or earlier.
struct CreateLogin {
  Tenant tenant;
  std::string token_id;
  // The id of the new login. Everything else is taken from the token.
  std::string id;
  std::string secret_hash;
  int64_t expire_time_micros = 0;
};

struct RevokeToken {
  Tenant tenant;
  std::string token_id;
};

struct RecordDenials {
  std::vector<DenialCount> denials;
};

// Somebody saw an entry that the ledger of a root budget does not hold.
struct BeginQuarantine {
  NamedEntry lost;
};

struct LiftQuarantine {
  std::string root_id;  // a StoredId
  Person person;
  std::string reason;
  // True if the root budget guards the lift: the first call proposes it, and a call of another
  // person within a week lifts the quarantine. Set by the holder of the ledgers (storage::Replica).
  bool is_guarded = false;
};

struct AccessCommand {
  std::variant<CreateToken, CreateLogin, RevokeToken, RecordDenials, BeginQuarantine,
               LiftQuarantine>
      body;
};

// The outcome of an AccessCommand.
struct AccessOutcome {
  Token token;                   // that the command is about, or a default
  int64_t lost_entry_count = 0;  // of LiftQuarantine: reported entries
  bool is_proposed = false;      // of LiftQuarantine: another person must approve it
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_ACCESS_COMMAND_H_
