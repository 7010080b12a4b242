#ifndef EPSLEDGER_SERVER_OIDC_CLAIM_RULES_H_
#define EPSLEDGER_SERVER_OIDC_CLAIM_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "server/access/caller.h"

namespace epsledger::oidc {

// What the claims of an issuer's tokens are worth here: a table from claims to tenant, role and
// grants, and the claim that names the person.
class ClaimRules {
 public:
  // {"principal": "sub",
  //  "rules": [{"claim": "groups", "value": "vision", "tenant": "acme", "role": "trainer",
  //             "within": ["budgets/vision"], "methods": ["ChargeService.Charge"]}]}
  //
  // A claim is a name, or, where it begins with '/', a JSON pointer into the claims
  // ("/realm/roles"). `principal` is "sub" if it is missing; so are `tenant` the nameless one,
  // `within` everything, and `methods` those of the role. INVALID_ARGUMENT names the rule and the
  // key, also for a key that is not known and for one that is there twice.
  static absl::StatusOr<ClaimRules> Parse(std::string_view json);

  // Whom the claims name, by the first rule whose claim is the value, or a list that holds it. The
  // principal is "oidc/" and the text of that claim. UNAUTHENTICATED if no rule is for them, or the
  // claim of the principal is missing, longer than kMaxPrincipalBytes or not printable.
  absl::StatusOr<access::Caller> CallerOf(const nlohmann::json& claims) const;

 private:
  struct Rule {
    std::string claim;
    std::string value;
    access::Caller caller;  // but for its principal
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
