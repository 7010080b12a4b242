#include "server/transport/grpc/converters/access_convert.h"

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/audit_convert.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/output_only.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

constexpr std::string_view kTokens = "tokens/";
// 9999-12-31T23:59:59Z, the last second of a Timestamp.
constexpr int64_t kLastSecond = 253402300799;

absl::StatusOr<core::Role> ReadRole(v1::Role::Kind role) {
  switch (role) {
    case v1::Role::VIEWER:
      return core::Role::kViewer;
    case v1::Role::TRAINER:
      return core::Role::kTrainer;
    case v1::Role::ADMIN:
      return core::Role::kAdmin;
    default:
      return accounting::OutOfDomain("token.role", absl::StrCat(static_cast<int>(role)),
                                     "VIEWER, TRAINER or ADMIN");
  }
}

absl::StatusOr<core::Grant> ReadGrant(const std::string& field, const v1::Grant& message) {
  core::Grant grant;
  if (message.resource().find("/sessions/") != std::string::npos) {
    ASSIGN_OR_RETURN(core::SessionName session,
                     ParseSessionName(field + ".resource", message.resource()));
    grant.budget_id = std::move(session.budget_id);
    grant.session_id = std::move(session.session_id);
  } else {
    ASSIGN_OR_RETURN(std::string budget, ParseBudgetName(field + ".resource", message.resource()));
    grant.budget_id = std::move(budget);
  }
  grant.methods = {message.methods().begin(), message.methods().end()};
  return grant;
}

void ToProto(const core::Grant& grant, v1::Grant* message) {
  message->set_resource(core::NameOf(grant));
  for (const std::string& method : grant.methods) message->add_methods(method);
}

v1::Role::Kind ToProto(core::Role role) { return static_cast<v1::Role::Kind>(role); }

}  // namespace

absl::StatusOr<access::NewToken> FromProto(const v1::CreateTokenRequest& request,
                                           const core::Tenant& tenant, absl::Time now) {
  const v1::Token& token = request.token();
  if (!token.name().empty()) {
    return accounting::OutOfDomain("token.name", Shown(token.name()),
                                   "unset: the server chooses it");
  }
  absl::Status status = CheckOutputOnlyUnset(token, "token");
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(core::Role role, ReadRole(token.role()));
  status = CheckText("token.description", token.description(), 0, core::kMaxDisplayNameBytes);
  if (!status.ok()) return status;
  const auto& expire = token.expire_time();
  status = accounting::CheckRange("token.expireTime.seconds", expire.seconds(), 0, kLastSecond);
  if (status.ok()) {
    status = accounting::CheckRange("token.expireTime.nanos", expire.nanos(), 0, 999'999'999);
  }
  if (!status.ok()) return status;
  const absl::Time expire_time =
      absl::FromUnixSeconds(expire.seconds()) + absl::Nanoseconds(expire.nanos());
  std::vector<core::Grant> grants;
  for (int i = 0; i < token.grants_size(); ++i) {
    ASSIGN_OR_RETURN(core::Grant grant,
                     ReadGrant(absl::StrCat("token.grants[", i, "]"), token.grants(i)));
    grants.push_back(std::move(grant));
  }
  return access::DraftToken(tenant, role, token.description(), expire_time, now, std::move(grants));
}

absl::StatusOr<std::string> ParseTokenName(const std::string& field, std::string_view name) {
  const std::string_view id =
      name.substr(0, kTokens.size()) == kTokens ? name.substr(kTokens.size()) : "";
  if (!CheckResourceId(field, id).ok()) {
    return accounting::OutOfDomain(field, Shown(name), "tokens/{token}");
  }
  return std::string(id);
}

void ToProto(const core::Token& token, absl::Time now, v1::Token* message) {
  message->set_name(absl::StrCat("tokens/", token.spec.id));
  message->set_tenant(token.spec.tenant);
  message->set_role(ToProto(token.spec.role));
  message->set_description(token.spec.description);
  for (const core::Grant& grant : token.grants) ToProto(grant, message->add_grants());
  ToProto(token.create_time_micros, message->mutable_create_time());
  if (!token.login_of.empty()) message->set_login_of(absl::StrCat("tokens/", token.login_of));
  if (token.created_by) ToProto(*token.created_by, message->mutable_created_by());
  if (token.revoked_by) ToProto(*token.revoked_by, message->mutable_revoked_by());
  ToProto(token.spec.expire_time_micros, message->mutable_expire_time());
  message->set_state(token.revoked                  ? v1::Token::REVOKED
                     : access::IsActive(token, now) ? v1::Token::ACTIVE
                                                    : v1::Token::EXPIRED);
}

void ToProto(const access::Caller& caller, v1::Caller* message) {
  message->set_tenant(caller.tenant.name);
  message->set_role(ToProto(caller.role));
  message->set_principal(caller.principal);
  if (caller.scope == nullptr) return;
  for (const core::Grant& grant : *caller.scope) ToProto(grant, message->add_grants());
}

void ToProto(const core::DenialCount& denial, int64_t time_micros, v1::Denial* message) {
  ToProto(time_micros, message->mutable_time());
  message->set_principal(denial.principal);
  message->set_method(denial.method);
  message->set_reason(denial.reason);
  message->set_count(denial.count);
}

}  // namespace epsledger::transport
