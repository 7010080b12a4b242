#include "server/oidc/claim_rules.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "accounting/event/printable.h"
#include "accounting/event/status_macros.h"
#include "proto/json_syntax/json_syntax.h"
#include "server/access/access_control.h"
#include "server/access/certificate_subject.h"
#include "server/access/distinct_name.h"
#include "server/access/method_rules.h"
#include "server/core/grant.h"

namespace epsledger::oidc {
namespace {

using nlohmann::json;

absl::Status Wrong(const std::string& where, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

absl::Status CheckKeys(const json& object, const std::string& where,
                       std::initializer_list<const char*> known) {
  if (!object.is_object()) return Wrong(where, "want an object");
  for (const auto& [key, value] : object.items()) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&key = key](const char* name) { return key == name; });
    if (!is_known) return Wrong(where, absl::StrCat("the key \"", key, "\" is not known"));
  }
  return absl::OkStatus();
}

// Returns the text of a key; empty if it is missing.
absl::Status ReadText(const json& object, const char* key, const std::string& where,
                      std::string* text) {
  const auto found = object.find(key);
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_string()) return Wrong(absl::StrCat(where, ".", key), "want a text");
  *text = found->get<std::string>();
  return absl::OkStatus();
}

absl::Status ReadTexts(const json& object, const char* key, const std::string& where,
                       std::vector<std::string>* texts) {
  const auto found = object.find(key);
  if (found == object.end()) return absl::OkStatus();
  const bool is_list = found->is_array() && !found->empty() &&
                       std::all_of(found->begin(), found->end(),
                                   [](const json& element) { return element.is_string(); });
  if (!is_list) return Wrong(absl::StrCat(where, ".", key), "want a list of texts, not empty");
  *texts = found->get<std::vector<std::string>>();
  return absl::OkStatus();
}

bool IsId(std::string_view text) { return !text.empty() && access::IsTenantName(text); }

// "budgets/vision" or "budgets/vision/sessions/first".
std::optional<core::Grant> GrantOf(const std::string& resource) {
  const std::vector<std::string> parts = absl::StrSplit(resource, '/');
  const bool names_session = parts.size() == 4 && parts[2] == "sessions" && IsId(parts[3]);
  if ((parts.size() != 2 && !names_session) || parts[0] != "budgets" || !IsId(parts[1])) {
    return std::nullopt;
  }
  core::Grant grant{.budget_id = parts[1]};
  if (names_session) grant.session_id = parts[3];
  return grant;
}

// Returns the claim, or nullptr if it is missing.
const json* FindClaim(const json& claims, const std::string& name) {
  if (name.empty() || name.front() != '/') {
    const auto found = claims.find(name);
    return found == claims.end() ? nullptr : &*found;
  }
  const json::json_pointer pointer(name);
  return claims.contains(pointer) ? &claims.at(pointer) : nullptr;
}

bool IsPointer(const std::string& name) {
  // nlohmann throws for an invalid pointer: '~' must be followed by 0 or 1.
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '~' && (i + 1 == name.size() || (name[i + 1] != '0' && name[i + 1] != '1'))) {
      return false;
    }
  }
  return true;
}

bool Holds(const json& claim, const std::string& value) {
  if (claim.is_string()) return claim.get_ref<const std::string&>() == value;
  return claim.is_array() && std::any_of(claim.begin(), claim.end(), [&](const json& element) {
           return element.is_string() && element.get_ref<const std::string&>() == value;
         });
}

}  // namespace

absl::StatusOr<ClaimRules::Rule> ClaimRules::ParseRule(const json& object,
                                                       const std::string& where) {
  absl::Status status =
      CheckKeys(object, where, {"claim", "value", "tenant", "role", "within", "methods"});
  Rule rule;
  std::string role;
  std::vector<std::string> within;
  std::vector<std::string> methods;
  if (status.ok()) status = ReadText(object, "claim", where, &rule.claim);
  if (status.ok()) status = ReadText(object, "value", where, &rule.value);
  if (status.ok()) status = ReadText(object, "tenant", where, &rule.caller.tenant.name);
  if (status.ok()) status = ReadText(object, "role", where, &role);
  if (status.ok()) status = ReadTexts(object, "within", where, &within);
  if (status.ok()) status = ReadTexts(object, "methods", where, &methods);
  if (!status.ok()) return status;
  if (rule.claim.empty() || !IsPointer(rule.claim)) {
    return Wrong(where + ".claim", "want the name of a claim, or a JSON pointer");
  }
  if (rule.value.empty()) return Wrong(where + ".value", "want the text that the claim holds");
  if (!access::IsTenantName(rule.caller.tenant.name)) {
    return Wrong(where + ".tenant",
                 "want nothing, or [a-z0-9] followed by up to 62 of [a-z0-9._-]");
  }
  const std::optional<core::Role> known = access::RoleNamed(role);
  if (!known) return Wrong(where + ".role", "want viewer, trainer or admin");
  rule.caller.role = *known;
  if (within.empty() && !methods.empty()) {
    return Wrong(where + ".methods", "want `within` beside it: what they are allowed in");
  }
  auto scope = std::make_shared<core::Scope>();
  for (const std::string& resource : within) {
    std::optional<core::Grant> grant = GrantOf(resource);
    if (!grant) {
      return Wrong(
          where + ".within",
          absl::StrCat("got \"", accounting::Escaped(resource),
                       "\", want budgets/{budget} or budgets/{budget}/sessions/{session}"));
    }
    grant->methods = methods;
    scope->push_back(*std::move(grant));
  }
  if (absl::Status grants = access::CheckGrants(*scope); !grants.ok()) {
    return Wrong(where, std::string(grants.message()));
  }
  if (!scope->empty()) rule.caller.scope = std::move(scope);
  return rule;
}

absl::StatusOr<ClaimRules> ClaimRules::Parse(std::string_view text) {
  RETURN_IF_ERROR(json_syntax::CheckObject(text, nullptr));
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return Wrong("rules", "not JSON");
  ClaimRules rules;
  absl::Status status = CheckKeys(object, "rules file", {"principal", "rules"});
  if (status.ok()) status = ReadText(object, "principal", "rules file", &rules.principal_claim_);
  if (!status.ok()) return status;
  if (rules.principal_claim_.empty() || !IsPointer(rules.principal_claim_)) {
    return Wrong("principal", "want the name of a claim, or a JSON pointer");
  }
  const auto list = object.find("rules");
  if (list == object.end() || !list->is_array() || list->empty() || list->size() > kMaxRules) {
    return Wrong("rules", absl::StrCat("want a list of 1 to ", kMaxRules, " rules"));
  }
  for (size_t i = 0; i < list->size(); ++i) {
    ASSIGN_OR_RETURN(Rule rule, ParseRule((*list)[i], absl::StrCat("rules[", i, "]")));
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

absl::StatusOr<access::Caller> ClaimRules::CallerOf(const json& claims) const {
  const json* principal = FindClaim(claims, principal_claim_);
  if (principal == nullptr || !principal->is_string()) {
    return absl::UnauthenticatedError(absl::StrCat("it has no text in the claim \"",
                                                   principal_claim_, "\", which says who calls"));
  }
  const std::string& name = principal->get_ref<const std::string&>();
  if (name.size() > kMaxPrincipalBytes || !access::IsDistinctName(name)) {
    return absl::UnauthenticatedError(absl::StrCat(
        "the claim \"", principal_claim_, "\" is no name: want 1 to ", kMaxPrincipalBytes,
        " bytes of printable text without a space at an end, two spaces in a row, combining marks "
        "or characters without width"));
  }
  for (const Rule& rule : rules_) {
    const json* claim = FindClaim(claims, rule.claim);
    if (claim == nullptr || !Holds(*claim, rule.value)) continue;
    access::Caller caller = rule.caller;
    caller.principal = absl::StrCat("oidc/", name);
    return caller;
  }
  return absl::UnauthenticatedError(
      absl::StrCat("no rule of this server is for \"", name,
                   "\": none of its claims gives a tenant and a role"));
}

}  // namespace epsledger::oidc
