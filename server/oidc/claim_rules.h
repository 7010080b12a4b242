#ifndef EPSLEDGER_SERVER_OIDC_CLAIM_RULES_H_
#define EPSLEDGER_SERVER_OIDC_CLAIM_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "server/access/caller.h"

namespace epsledger::oidc {

// Maps the claims of an issuer's tokens to tenant, role and grants, and knows the claim that names
// the person.
class ClaimRules {
 public:
  // {"principal": "sub",
  //  "rules": [{"claim": "groups", "value": "vision", "tenant": "acme", "role": "trainer",
  //             "within": ["budgets/vision"], "methods": ["ChargeService.Charge"]}]}
  //
  // A claim is a name, or a JSON pointer into the claims if it begins with '/' ("/realm/roles").
  // Defaults: `principal` is "sub", `tenant` the tenant without a name, `within` everything, and
  // `methods` those of the role. INVALID_ARGUMENT names the rule and the key, also for an unknown
  // or a repeated key.
  static absl::StatusOr<ClaimRules> Parse(std::string_view json);

  // Returns the caller that the claims name, by the first rule whose claim equals the value or is a
  // list that contains it. The principal is "oidc/" and the text of the principal claim.
  // UNAUTHENTICATED if no rule fits, or if the principal claim is missing, empty,
  // longer than kMaxPrincipalBytes, not printable, or has a space at an end.
  absl::StatusOr<access::Caller> CallerOf(const nlohmann::json& claims) const;

 private:
  struct Rule {
    std::string claim;
    std::string value;
    access::Caller caller;  // without its principal
  };

  static absl::StatusOr<Rule> ParseRule(const nlohmann::json& json, const std::string& where);

  std::string principal_claim_ = "sub";
  std::vector<Rule> rules_;
};

inline constexpr size_t kMaxPrincipalBytes = 128;
// Enough for every team of an organisation.
inline constexpr size_t kMaxRules = 1'000;

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_SERVER_OIDC_CLAIM_RULES_H_
