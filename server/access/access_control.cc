#include "server/access/access_control.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "accounting/event/status_macros.h"
#include "server/access/certificate_subject.h"
#include "server/access/method_rules.h"
#include "server/access/secret.h"
#include "server/core/limits.h"

namespace epsledger::access {
namespace {

constexpr absl::Duration kMaxTokenLife = absl::Hours(24 * 3653);  // ten years

// The payload of a denial with its reason.
constexpr char kDenialReason[] = "epsledger.dev/denial-reason";

constexpr char kHowToGiveAToken[] =
    "give a token in the metadata \"authorization: Bearer SECRET\" (epsctl: --token-file or "
    "EPSLEDGER_TOKEN), or a client certificate with O = tenant, OU = role, CN = name";

// The token's id. For a login: the id of its token, which identifies the caller.
std::string TokenName(const core::Token& token) {
  return absl::StrCat("tokens/", token.login_of.empty() ? token.spec.id : token.login_of);
}

// Returns the secret in "Bearer SECRET", or "" if the text is not of that form.
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

absl::Status CheckGrants(const std::vector<core::Grant>& grants) {
  size_t bytes = 0;
  for (const core::Grant& grant : grants) {
    bytes += grant.budget_id.size() + grant.session_id.size();
    for (const std::string& method : grant.methods) {
      if (!IsGrantable(method)) {
        return absl::InvalidArgumentError(
            absl::StrCat("token.grants.methods: got \"", absl::CHexEscape(method.substr(0, 64)),
                         "\", want a method that can be granted, as \"ChargeService.Charge\""));
      }
      bytes += method.size();
    }
  }
  if (grants.size() > core::kMaxGrants || bytes > core::kMaxGrantBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "token.grants: got ", grants.size(), " with ", bytes, " bytes of names, want at most ",
        core::kMaxGrants, " with ", core::kMaxGrantBytes,
        ": a grant without methods is of all that the role may"));
  }
  return absl::OkStatus();
}

bool IsActive(const core::Token& token, absl::Time now) {
  return !token.revoked && now < absl::FromUnixMicros(token.spec.expire_time_micros);
}

absl::StatusOr<NewToken> DraftToken(const core::Tenant& tenant, core::Role role,
                                    const std::string& description, absl::Time expire_time,
                                    absl::Time now, std::vector<core::Grant> grants) {
  if (!IsTenantName(tenant.name)) {
    return absl::InvalidArgumentError(
        "tenant: want nothing, or [a-z0-9] followed by up to 62 of [a-z0-9._-]");
  }
  if (expire_time <= now || expire_time > now + kMaxTokenLife) {
    return absl::InvalidArgumentError(
        absl::StrCat("token.expireTime: got ", absl::FormatTime(expire_time, absl::UTCTimeZone()),
                     ", want a time in the next ten years"));
  }
  RETURN_IF_ERROR(CheckGrants(grants));
  ASSIGN_OR_RETURN(std::string secret, MakeSecret());
  ASSIGN_OR_RETURN(std::string id, MakeTokenId());
  NewToken made;
  made.token.spec = {.id = std::move(id),
                     .tenant = tenant.name,
                     .role = role,
                     .description = description,
                     .expire_time_micros = absl::ToUnixMicros(expire_time),
                     .secret_hash = HashOfSecret(secret)};
  made.token.grants = std::move(grants);
  made.token.create_time_micros = absl::ToUnixMicros(now);
  made.secret = std::move(secret);
  return made;
}

AccessControl::AccessControl(core::DurableLedger& ledger, AccessOptions options)
    : ledger_(ledger), options_(options) {}

bool AccessControl::IsOn() const {
  if (options_.insecure_off) return false;
  return options_.required || options_.identity_provider != nullptr || !ledger_.Tokens()->empty();
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
    IdentityProvider* const provider = options_.identity_provider;
    if (provider != nullptr && provider->MayBeOurs(secret)) {
      absl::StatusOr<Caller> named = provider->CallerOf(secret, absl::Now());
      if (!named.ok()) return Refusal{named.status(), "OIDC_TOKEN_NOT_TAKEN", unknown};
      *caller = *std::move(named);
      return std::nullopt;
    }
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
    if (!token.login_of.empty()) caller->login = token.spec.id;
    if (!token.grants.empty()) caller->scope = std::make_shared<core::Scope>(token.grants);
    if (token.revoked) {
      const std::string what =
          token.login_of.empty() ? " was revoked" : ": the login or its token has ended";
      return Refusal{Unauthenticated(caller->principal + what), "TOKEN_REVOKED", *caller,
                     /*is_known=*/true};
    }
    if (!IsActive(token, absl::Now())) {
      return Refusal{Unauthenticated(caller->principal + " has expired"), "TOKEN_EXPIRED", *caller,
                     /*is_known=*/true};
    }
    return std::nullopt;
  }
  if (!credentials.certificate_pem.empty()) {
    if (std::optional<CertifiedCaller> named = CallerOf(credentials.certificate_pem)) {
      *caller = std::move(named->caller);
      // The handshake checked it; the connection may outlive it.
      if (absl::Now() < named->expire_time) return std::nullopt;
      return Refusal{Unauthenticated(absl::StrCat("the client certificate of ", caller->principal,
                                                  " has expired")),
                     "CERTIFICATE_EXPIRED", *caller, /*is_known=*/true};
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
  const MethodRule* rule = FindMethodRule(method);
  if (rule == nullptr) {
    return Refusal{
        absl::PermissionDeniedError(absl::StrCat(name, " has no role and is open to none")),
        "METHOD_WITHOUT_ROLE", *caller, /*is_known=*/true};
  }
  if (caller->role < rule->least) {
    return Refusal{
        absl::PermissionDeniedError(absl::StrCat(name, " wants the role ", Name(rule->least), "; ",
                                                 caller->principal, " is ", Name(caller->role))),
        "ROLE_TOO_SMALL", *caller, /*is_known=*/true};
  }
  return caller->scope == nullptr ? std::nullopt : Limit(*rule, caller);
}

std::optional<AccessControl::Refusal> AccessControl::Limit(const MethodRule& rule, Caller* caller) {
  if (rule.subject == Subject::kCaller) return std::nullopt;
  const absl::string_view name(rule.method.data(), rule.method.size());
  if (rule.subject == Subject::kTenant) {
    return Refusal{
        absl::PermissionDeniedError(absl::StrCat(name, " is about the whole tenant; ",
                                                 caller->principal, " is limited to a part of it")),
        "LIMITED_TO_A_PART", *caller, /*is_known=*/true};
  }
  auto left = std::make_shared<core::Scope>();
  for (const core::Grant& grant : *caller->scope) {
    const auto& methods = grant.methods;
    if (methods.empty() ||
        std::find(methods.begin(), methods.end(), rule.method) != methods.end()) {
      left->push_back(grant);
    }
  }
  if (left->empty()) {
    return Refusal{
        absl::PermissionDeniedError(absl::StrCat(name, " is in no grant of ", caller->principal)),
        "METHOD_NOT_GRANTED", *caller, /*is_known=*/true};
  }
  caller->scope = std::move(left);
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
  absl::Status status = refusal->status;
  status.SetPayload(kDenialReason, absl::Cord(refusal->reason));
  return status;
}

std::string DenialReasonOf(const absl::Status& status) {
  return std::string(status.GetPayload(kDenialReason).value_or(absl::Cord()));
}

void AccessControl::Record(std::vector<core::DenialCount> due, absl::Time now) {
  if (due.empty()) return;
  core::Command command{
      .time_micros = absl::ToUnixMicros(now),
      .actor = core::Actor{.door = core::Door::kServer},
      .body = core::AccessCommand{core::RecordDenials{.denials = std::move(due)}}};
  // A failing store reports itself through Health; the callers were answered.
  ledger_.Submit(core::Tenant(), std::move(command),
                 [denials = denials_](absl::StatusOr<core::Outcome>) { denials->Recorded(); });
}

void AccessControl::RecordDueDenials(absl::Time now) { Record(denials_->TakeDue(now), now); }

void AccessControl::RecordAllDenials() { Record(denials_->TakeAll(), absl::Now()); }

}  // namespace epsledger::access
