#include "server/core/access_ledger.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/core/codec.h"
#include "server/core/limits.h"
#include "server/core/proposal.h"

namespace epsledger::core {
namespace {

constexpr size_t kSecretHashBytes = 32;
constexpr int64_t kLiftProposalLifeMicros = int64_t{7} * 24 * 60 * 60 * 1'000'000;

absl::Status Contradiction(const Entry& entry, const char* what) {
  return absl::DataLossError(
      absl::StrFormat("ledger of access: entry %d %s", entry.sequence, what));
}

}  // namespace

const Token* AccessLedger::FindToken(const Tenant& tenant, std::string_view token_id) const {
  const auto hash = hash_of_token_.find(token_id);
  if (hash == hash_of_token_.end()) return nullptr;
  const Token& token = tokens_.find(hash->second)->second;
  return token.spec.tenant == tenant.name ? &token : nullptr;
}

Person AccessLedger::PersonOf(const Tenant& tenant, std::string principal) const {
  constexpr std::string_view kTokens = "tokens/";
  Person person{.principal = std::move(principal), .makers = {}};
  std::string_view made = person.principal;
  while (made.substr(0, kTokens.size()) == kTokens) {
    const Token* token = FindToken(tenant, made.substr(kTokens.size()));
    if (token != nullptr && !token->created_by.has_value()) break;
    // `epsledgerd token create` on the server's machine is the root of trust, and no person: it
    // makes the tokens of all people.
    if (token != nullptr && token->created_by->door == Door::kOffline) break;
    if (token == nullptr || person.makers.size() == kMaxMakers) {
      person.makers.push_back(kUnknownMaker);
      break;
    }
    person.makers.push_back(token->created_by->principal);
    made = token->created_by->principal;
  }
  return person;
}

std::vector<const Token*> AccessLedger::TokensOf(const Tenant& tenant, std::string_view after_id,
                                                 int64_t limit) const {
  std::vector<const Token*> result;
  for (auto it = hash_of_token_.upper_bound(after_id);
       it != hash_of_token_.end() && static_cast<int64_t>(result.size()) < limit; ++it) {
    const Token& token = tokens_.find(it->second)->second;
    if (token.spec.tenant == tenant.name) result.push_back(&token);
  }
  return result;
}

absl::StatusOr<AccessLedger::Decision> AccessLedger::DecideOn(const CreateToken& command,
                                                              int64_t time_micros) const {
  const TokenSpec& spec = command.spec;
  if (spec.secret_hash.size() != kSecretHashBytes) {
    return absl::InvalidArgumentError(absl::StrFormat("secretHash: got %d bytes, want %d",
                                                      spec.secret_hash.size(), kSecretHashBytes));
  }
  if (hash_of_token_.count(spec.id) > 0 || tokens_.count(spec.secret_hash) > 0) {
    return absl::AlreadyExistsError("tokens: the id or the secret is taken, ask again");
  }
  if (const auto tokens = tenants_.find(spec.tenant);
      tokens != tenants_.end() && !command.beyond_limit) {
    const auto& living = tokens->second.living;
    const auto count = std::distance(living.lower_bound({time_micros + 1, ""}), living.end());
    if (count >= kMaxLivingTokens) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "tokens: got %d that are in force, the most that a tenant may have, want fewer: revoke "
          "those that nobody uses",
          count));
    }
  }
  if (command.grants.empty()) return Decision{{TokenCreated{spec}}, spec.id};
  return Decision{{LimitedTokenCreated{spec, command.grants}}, spec.id};
}

absl::StatusOr<AccessLedger::Decision> AccessLedger::DecideOn(const CreateLogin& command,
                                                              int64_t time_micros) const {
  const Token* token = FindToken(command.tenant, command.token_id);
  if (token == nullptr) {
    return absl::NotFoundError(
        absl::StrFormat("tokens/%s: there is no such token", command.token_id));
  }
  if (token->revoked || token->spec.expire_time_micros <= time_micros || !token->login_of.empty()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("tokens/%s has ended or is a login itself", command.token_id));
  }
  if (command.secret_hash.size() != kSecretHashBytes || hash_of_token_.count(command.id) > 0 ||
      tokens_.count(command.secret_hash) > 0) {
    return absl::AlreadyExistsError("tokens: the id or the secret is taken, ask again");
  }
  TokenSpec spec = token->spec;
  spec.id = command.id;
  spec.secret_hash = command.secret_hash;
  spec.expire_time_micros = std::min(spec.expire_time_micros, command.expire_time_micros);
  const std::string id = spec.id;
  return Decision{{LoginCreated{std::move(spec), token->grants, command.token_id}}, id};
}

absl::StatusOr<AccessLedger::Decision> AccessLedger::DecideOn(const RevokeToken& command) const {
  const Token* token = FindToken(command.tenant, command.token_id);
  if (token == nullptr) {
    return absl::NotFoundError(
        absl::StrFormat("tokens/%s: there is no such token", command.token_id));
  }
  Decision decision{{}, command.token_id};
  if (!token->revoked) decision.entries.push_back(TokenRevoked{command.token_id});
  return decision;
}

absl::StatusOr<AccessLedger::Decision> AccessLedger::DecideOn(const RecordDenials& command) const {
  Decision decision;
  for (const DenialCount& denial : command.denials) decision.entries.push_back(CallsDenied{denial});
  return decision;
}

absl::StatusOr<AccessLedger::Decision> AccessLedger::DecideOn(
    const BeginQuarantine& command) const {
  const NamedEntry& lost = command.lost;
  const auto known = lost_entries_.find(lost.root_id);
  Decision decision;
  if (known != lost_entries_.end() && known->second.in_quarantine) {
    const auto through = known->second.lost_through.find(lost.incarnation);
    const bool is_known =
        through != known->second.lost_through.end() && lost.sequence <= through->second;
    if (is_known || known->second.entry_count >= kMaxLostEntries) return decision;
  }
  decision.entries.push_back(QuarantineBegun{lost});
  return decision;
}

absl::StatusOr<AccessLedger::Decision> AccessLedger::DecideOn(const LiftQuarantine& command,
                                                              int64_t time_micros) const {
  if (!IsInQuarantine(command.root_id)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("budgets/%s: is in no quarantine that can be lifted",
                        std::string(BudgetIdOf(command.root_id))));
  }
  Decision decision;
  if (command.is_guarded) {
    const auto& proposed = lost_entries_.find(command.root_id)->second.lift_proposed;
    if (!proposed.has_value() || proposed->expire_time_micros <= time_micros ||
        !AreTwoPeople(proposed->proposer, command.person)) {
      decision.is_proposed = true;
      // A repeated call of the same person does not extend the proposal.
      if (!proposed.has_value() || proposed->expire_time_micros <= time_micros) {
        decision.entries.push_back(
            QuarantineLiftProposed{.root_id = command.root_id,
                                   .proposer = command.person,
                                   .reason = command.reason,
                                   .expire_time_micros = time_micros + kLiftProposalLifeMicros});
      }
      return decision;
    }
  }
  decision.entries.push_back(
      QuarantineLifted{command.root_id, command.person.principal, command.reason});
  decision.lost_entry_count = lost_entries_.find(command.root_id)->second.entry_count;
  return decision;
}

absl::StatusOr<AccessOutcome> AccessLedger::Execute(
    const AccessCommand& command, int64_t time_micros, const std::optional<Actor>& actor,
    absl::FunctionRef<absl::Status(const Entry&)> store) {
  const auto decide = [&](const auto& body) {
    if constexpr (std::is_same_v<decltype(body), const CreateToken&> ||
                  std::is_same_v<decltype(body), const CreateLogin&> ||
                  std::is_same_v<decltype(body), const LiftQuarantine&>) {
      return DecideOn(body, time_micros);
    } else {
      return DecideOn(body);
    }
  };
  ASSIGN_OR_RETURN(Decision decision, std::visit(decide, command.body));
  for (EntryBody& body : decision.entries) {
    Entry entry{.sequence = head_.sequence + 1,
                .time_micros = time_micros,
                .actor = actor,
                .body = std::move(body)};
    entry.content = EncodeContent(entry.sequence, entry.time_micros, entry.body, entry.actor);
    entry.hash = ChainHash(head_.hash, entry.content);
    RETURN_IF_ERROR(store(entry));
    RETURN_IF_ERROR(Apply(entry));
  }
  AccessOutcome outcome{.lost_entry_count = decision.lost_entry_count,
                        .is_proposed = decision.is_proposed};
  if (!decision.token_id.empty()) {
    outcome.token = tokens_.find(hash_of_token_.find(decision.token_id)->second)->second;
  }
  return outcome;
}

void AccessLedger::Forget(const std::string& token_id) {
  const auto hash = hash_of_token_.find(token_id);
  tokens_.erase(hash->second);
  hash_of_token_.erase(hash);
}

void AccessLedger::EndLogins(const std::string& token_id) {
  const auto logins = logins_.find(token_id);
  if (logins == logins_.end()) return;
  for (const std::string& login : logins->second) Forget(login);
  logins_.erase(logins);
}

void AccessLedger::End(const TokenSpec& spec, TenantTokens& tokens) {
  EndLogins(spec.id);
  if (tokens.living.erase({spec.expire_time_micros, spec.id}) == 0) return;  // It had ended before.
  tokens.ended.push_back(spec.id);
  if (tokens.ended.size() <= kMaxEndedTokens) return;
  Forget(tokens.ended.front());
  tokens.ended.pop_front();
}

absl::Status AccessLedger::CheckNew(const TokenSpec& spec, const Entry& entry) const {
  if (spec.secret_hash.size() == kSecretHashBytes && hash_of_token_.count(spec.id) == 0 &&
      tokens_.count(spec.secret_hash) == 0) {
    return absl::OkStatus();
  }
  return Contradiction(entry, "makes a token that cannot be or is there already");
}

absl::Status AccessLedger::ApplyLogin(const LoginCreated& login, const Entry& entry) {
  RETURN_IF_ERROR(CheckNew(login.spec, entry));
  const auto hash = hash_of_token_.find(login.login_of);
  const Token* token = hash == hash_of_token_.end() ? nullptr : &tokens_.find(hash->second)->second;
  if (token == nullptr || token->revoked || !token->login_of.empty() ||
      token->spec.tenant != login.spec.tenant || token->spec.role != login.spec.role ||
      token->grants != login.grants ||
      token->spec.expire_time_micros < login.spec.expire_time_micros) {
    return Contradiction(entry, "makes a login that its token does not allow");
  }
  std::deque<std::string>& logins = logins_[login.login_of];
  logins.push_back(login.spec.id);
  if (logins.size() > kMaxLogins) {
    Forget(logins.front());
    logins.pop_front();
  }
  tokens_.emplace(login.spec.secret_hash, Token{.spec = login.spec,
                                                .grants = login.grants,
                                                .login_of = login.login_of,
                                                .create_time_micros = entry.time_micros,
                                                .created_by = entry.actor});
  hash_of_token_.emplace(login.spec.id, login.spec.secret_hash);
  return absl::OkStatus();
}

absl::Status AccessLedger::ApplyCreated(const TokenSpec& spec, const std::vector<Grant>& grants,
                                        const Entry& entry) {
  RETURN_IF_ERROR(CheckNew(spec, entry));
  const int64_t time_micros = entry.time_micros;
  TenantTokens& tokens = tenants_[spec.tenant];
  while (!tokens.living.empty() && tokens.living.begin()->first <= time_micros) {
    const std::string hash = hash_of_token_.find(tokens.living.begin()->second)->second;
    const TokenSpec expired = tokens_.find(hash)->second.spec;  // The table may forget it.
    End(expired, tokens);
  }
  tokens.living.emplace(spec.expire_time_micros, spec.id);
  tokens_.emplace(spec.secret_hash, Token{.spec = spec,
                                          .grants = grants,
                                          .create_time_micros = time_micros,
                                          .created_by = entry.actor});
  hash_of_token_.emplace(spec.id, spec.secret_hash);
  return absl::OkStatus();
}

absl::Status AccessLedger::Apply(const Entry& entry) {
  if (entry.sequence != head_.sequence + 1) {
    return Contradiction(entry, "does not follow the entry before it");
  }
  if (entry.hash != ChainHash(head_.hash, entry.content)) {
    return Contradiction(entry, "has a hash that does not follow from the entry before it");
  }
  if (const auto* created = std::get_if<TokenCreated>(&entry.body)) {
    RETURN_IF_ERROR(ApplyCreated(created->spec, {}, entry));
  } else if (const auto* limited = std::get_if<LimitedTokenCreated>(&entry.body)) {
    if (limited->grants.empty()) return Contradiction(entry, "limits a token to nothing");
    RETURN_IF_ERROR(ApplyCreated(limited->spec, limited->grants, entry));
  } else if (const auto* login = std::get_if<LoginCreated>(&entry.body)) {
    RETURN_IF_ERROR(ApplyLogin(*login, entry));
  } else if (const auto* revoked = std::get_if<TokenRevoked>(&entry.body)) {
    const auto hash = hash_of_token_.find(revoked->token_id);
    if (hash == hash_of_token_.end()) return Contradiction(entry, "revokes no token");
    Token& token = tokens_.find(hash->second)->second;
    token.revoked = true;
    token.revoked_by = entry.actor;
    const TokenSpec spec = token.spec;  // The table may forget it.
    End(spec, tenants_[spec.tenant]);
  } else if (const auto* begun = std::get_if<QuarantineBegun>(&entry.body)) {
    LostEntries& lost = lost_entries_[begun->lost.root_id];
    lost.in_quarantine = true;
    ++lost.entry_count;
    int64_t& through = lost.lost_through[begun->lost.incarnation];
    through = std::max(through, begun->lost.sequence);
  } else if (const auto* lifted = std::get_if<QuarantineLifted>(&entry.body)) {
    if (!IsInQuarantine(lifted->root_id)) return Contradiction(entry, "lifts no quarantine");
    LostEntries& lost = lost_entries_.find(lifted->root_id)->second;
    lost.in_quarantine = false;
    lost.entry_count = 0;
    lost.lifted_by = lifted->principal;
    lost.lift_proposed.reset();
  } else if (const auto* proposed = std::get_if<QuarantineLiftProposed>(&entry.body)) {
    if (!IsInQuarantine(proposed->root_id)) return Contradiction(entry, "lifts no quarantine");
    lost_entries_.find(proposed->root_id)->second.lift_proposed = *proposed;
  } else if (!std::holds_alternative<CallsDenied>(entry.body)) {
    return Contradiction(entry, "belongs to a budget's ledger");
  }
  head_ = {.sequence = entry.sequence, .hash = entry.hash};
  return absl::OkStatus();
}

}  // namespace epsledger::core
