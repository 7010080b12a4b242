#include "server/access/access_control.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/access/certificate_subject.h"
#include "server/access/method_roles.h"
#include "server/access/secret.h"

namespace epsledger::access {
namespace {

constexpr absl::Duration kMaxTokenLife = absl::Hours(24 * 3653);  // ten years

constexpr char kHowToGiveAToken[] =
    "give a token in the metadata \"authorization: Bearer SECRET\" (epsctl: --token-file or "
    "EPSLEDGER_TOKEN), or a client certificate with O = tenant, OU = role, CN = name";

std::string TokenName(const core::Token& token) { return absl::StrCat("tokens/", token.spec.id); }

// The secret in "Bearer SECRET", or "" if it is not of that form.
std::string_view SecretIn(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() ||
      !absl::EqualsIgnoreCase(absl::string_view(authorization.data(), kScheme.size()),
                              absl::string_view(kScheme.data(), kScheme.size()))) {
    return {};
  }
  return authorization.substr(kScheme.size());
}

absl::Status Unauthenticated(std::string_view why) {
  return absl::UnauthenticatedError(
      absl::StrCat(absl::string_view(why.data(), why.size()), ": ", kHowToGiveAToken));
}

}  // namespace

bool IsActive(const core::Token& token, absl::Time now) {
  return !token.revoked && now < absl::FromUnixMicros(token.spec.expire_time_micros);
}

absl::StatusOr<NewToken> DraftToken(const core::Tenant& tenant, core::Role role,
                                    const std::string& description, absl::Time expire_time,
                                    absl::Time now) {
  if (!IsTenantName(tenant.name)) {
    return absl::InvalidArgumentError(
        "tenant: want nothing, or [a-z0-9] followed by up to 62 of [a-z0-9._-]");
  }
  if (expire_time <= now || expire_time > now + kMaxTokenLife) {
    return absl::InvalidArgumentError(
        absl::StrCat("token.expireTime: got ", absl::FormatTime(expire_time, absl::UTCTimeZone()),
                     ", want a time in the next ten years"));
  }
  absl::StatusOr<std::string> secret = MakeSecret();
  if (!secret.ok()) return secret.status();
  absl::StatusOr<std::string> id = MakeTokenId();
  if (!id.ok()) return id.status();
  NewToken made;
  made.token.spec = {.id = *std::move(id),
                     .tenant = tenant.name,
                     .role = role,
                     .description = description,
                     .expire_time_micros = absl::ToUnixMicros(expire_time),
                     .secret_hash = HashOfSecret(*secret)};
  made.token.create_time_micros = absl::ToUnixMicros(now);
  made.secret = *std::move(secret);
  return made;
}

AccessControl::AccessControl(core::DurableLedger& ledger, AccessOptions options)
    : ledger_(ledger), options_(options) {}

bool AccessControl::IsOn() const {
  if (options_.insecure_off) return false;
  return options_.required || !ledger_.Tokens()->empty();
}

std::optional<AccessControl::Refusal> AccessControl::Authenticate(const Credentials& credentials,
                                                                  Caller* caller) const {
  const Caller unknown{.principal = credentials.kind_of_peer};
  if (options_.insecure_off) {
    *caller = {.tenant = {}, .role = core::Role::kAdmin, .principal = kAnybody};
    return std::nullopt;
  }
  if (credentials.authorization.has_value()) {
    if (!credentials.confidential) {
      return Refusal{absl::UnauthenticatedError(
                         "a token came in plaintext from another machine: whoever is on the way "
                         "has read it. Revoke it, and connect with TLS"),
                     "TOKEN_IN_PLAINTEXT", unknown};
    }
    const std::string_view secret = SecretIn(*credentials.authorization);
    if (!IsSecret(secret)) {
      return Refusal{Unauthenticated("the metadata \"authorization\" holds no token"),
                     "TOKEN_MALFORMED", unknown};
    }
    if (!ledger_.TokensAreCurrent()) {
      return Refusal{absl::UnavailableError("tokens cannot be checked now: the ledger's database "
                                            "does not answer, and one may have been revoked"),
                     "", unknown};
    }
    const std::shared_ptr<const core::TokenTable> tokens = ledger_.Tokens();
    const auto found = tokens->find(HashOfSecret(secret));
    if (found == tokens->end()) {
      return Refusal{Unauthenticated("this server does not know the token"), "TOKEN_UNKNOWN",
                     unknown};
    }
    const core::Token& token = found->second;
    *caller = {
        .tenant = {token.spec.tenant}, .role = token.spec.role, .principal = TokenName(token)};
    if (token.revoked) {
      return Refusal{Unauthenticated(caller->principal + " was revoked"), "TOKEN_REVOKED", *caller,
                     /*is_known=*/true};
    }
    if (!IsActive(token, absl::Now())) {
      return Refusal{Unauthenticated(caller->principal + " has expired"), "TOKEN_EXPIRED", *caller,
                     /*is_known=*/true};
    }
    return std::nullopt;
  }
  if (!credentials.certificate_pem.empty()) {
    if (std::optional<Caller> named = CallerOf(credentials.certificate_pem)) {
      *caller = *std::move(named);
      return std::nullopt;
    }
  }
  if (!IsOn()) {
    *caller = {.tenant = {}, .role = core::Role::kAdmin, .principal = kAnybody};
    return std::nullopt;
  }
  return Refusal{Unauthenticated(credentials.certificate_pem.empty()
                                     ? "the call shows no token"
                                     : "the client certificate names no tenant, role and name: "
                                       "want O, OU and CN, each once"),
                 "NO_CREDENTIAL", unknown};
}

std::optional<AccessControl::Refusal> AccessControl::Refuse(const Credentials& credentials,
                                                            std::string_view method,
                                                            Caller* caller) const {
  if (std::optional<Refusal> refusal = Authenticate(credentials, caller)) return refusal;
  const absl::string_view name(method.data(), method.size());
  const std::optional<core::Role> least = LeastRoleFor(method);
  if (!least.has_value()) {
    return Refusal{
        absl::PermissionDeniedError(absl::StrCat(name, " has no role and is open to none")),
        "METHOD_WITHOUT_ROLE", *caller, /*is_known=*/true};
  }
  if (caller->role < *least) {
    return Refusal{
        absl::PermissionDeniedError(absl::StrCat(name, " wants the role ", Name(*least), "; ",
                                                 caller->principal, " is ", Name(caller->role))),
        "ROLE_TOO_SMALL", *caller, /*is_known=*/true};
  }
  return std::nullopt;
}

absl::StatusOr<Caller> AccessControl::Admit(const Credentials& credentials, std::string_view method,
                                            Caller* denied) {
  Caller caller;
  const std::optional<Refusal> refusal = Refuse(credentials, method, &caller);
  if (!refusal.has_value()) return caller;
  if (absl::IsUnavailable(refusal->status)) return refusal->status;  // nobody was denied
  const core::DenialCount key{.tenant = refusal->who.tenant.name,
                              .principal = refusal->who.principal,
                              .method = std::string(method),
                              .reason = refusal->reason};
  if (refusal->is_known) {
    denials_->Add(key);
    if (denied != nullptr) *denied = refusal->who;
  } else {
    denials_->AddStranger(key);
  }
  return refusal->status;
}

void AccessControl::Record(std::vector<core::DenialCount> due, absl::Time now) {
  if (due.empty()) return;
  core::Command command{
      .time_micros = absl::ToUnixMicros(now),
      .actor = core::Actor{.door = core::Door::kServer},
      .body = core::AccessCommand{core::RecordDenials{.denials = std::move(due)}}};
  // A store that fails says so through Health; the callers were answered.
  ledger_.Submit(core::Tenant(), std::move(command),
                 [denials = denials_](absl::StatusOr<core::Outcome>) { denials->Recorded(); });
}

void AccessControl::RecordDueDenials(absl::Time now) { Record(denials_->TakeDue(now), now); }

void AccessControl::RecordAllDenials() { Record(denials_->TakeAll(), absl::Now()); }

}  // namespace epsledger::access
