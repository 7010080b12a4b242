#ifndef EPSLEDGER_SERVER_ACCESS_ACCESS_CONTROL_H_
#define EPSLEDGER_SERVER_ACCESS_ACCESS_CONTROL_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/caller.h"
#include "server/access/denial_counts.h"
#include "server/access/identity_provider.h"
#include "server/access/method_rules.h"
#include "server/core/access_command.h"
#include "server/core/durable_ledger.h"

namespace epsledger::access {

struct AccessOptions {
  // Access control is on from the start. Otherwise it is on once a first token was created.
  bool required = false;
  // Access control is off in all cases.
  bool insecure_off = false;
  // Identifies callers by tokens that others issue. If set, access control is on. nullptr: none.
  // REQUIRES: it outlives the AccessControl.
  IdentityProvider* identity_provider = nullptr;
};

// The identification of the caller that a call carries.
struct Credentials {
  // The value of the metadata "authorization", if it was sent; several values are joined by ','.
  std::optional<std::string> authorization;
  // The peer's certificate, verified by the transport. Empty if the peer has none.
  std::string certificate_pem;
  // False if others could have read it on the way: neither TLS nor from this machine.
  bool confidential = false;
  // Names the caller if nothing else does: "a peer over TLS", "a peer in plaintext", ...
  std::string kind_of_peer;
};

// A new token with its secret, which is shown once.
struct NewToken {
  core::Token token;
  std::string secret;
};

// Returns true if `token` is valid at `now`.
bool IsActive(const core::Token& token, absl::Time now);

// Checks grants as DraftToken does. Errors name "token.grants".
absl::Status CheckGrants(const std::vector<core::Grant>& grants);

// Returns a new token with its secret. It is durable only once its CreateToken is. INVALID_ARGUMENT
// unless the tenant's name is valid, `expire_time` is in the future and at most ten years away, and
// `grants` name grantable methods and have at most kMaxGrants elements and kMaxGrantBytes bytes.
absl::StatusOr<NewToken> DraftToken(const core::Tenant& tenant, core::Role role,
                                    const std::string& description, absl::Time expire_time,
                                    absl::Time now, std::vector<core::Grant> grants = {});

// Returns the reason of a denial by AccessControl, as ListDenials shows it: "METHOD_NOT_GRANTED".
// Returns "" for any other status.
std::string DenialReasonOf(const absl::Status& status);

// Decides who may call what. Denies by default: a method without a rule (method_rules.h) is denied
// to everybody. A credential that is wrong in any way is denied too, even while no token exists
// yet; only AccessOptions.insecure_off looks at no credential. Thread-safe.
class AccessControl {
 public:
  // REQUIRES: `ledger` outlives this object.
  AccessControl(core::DurableLedger& ledger, AccessOptions options);

  bool IsOn() const;

  // Returns the caller, if they may call `method` ("epsledger.v1.BudgetService.GetBudget"). A token
  // takes precedence over a certificate. Every call is looked up again, so that expiry and
  // revocation take effect immediately.
  //   UNAUTHENTICATED    no credential, or an invalid one; the message says how to give a token
  //   PERMISSION_DENIED  the message names the method, and its role or that no grant names it
  // Counts denials. Sets `*denied` to the denied caller, if the caller is known and `denied` is not
  // nullptr.
  absl::StatusOr<Caller> Admit(const Credentials& credentials, std::string_view method,
                               Caller* denied = nullptr);

  // Returns the denials that are not recorded yet. If called during a read of the ledger, these and
  // the recorded ones together contain every denial exactly once.
  std::shared_ptr<const DenialCounts> denials() const { return denials_; }
  // Records the denials that are due (DenialCounts). Must be called a few times a second.
  void RecordDueDenials(absl::Time now);
  // Records all denials, at the end.
  void RecordAllDenials();

 private:
  struct Refusal {
    absl::Status status;
    std::string reason;
    Caller who;  // as far as known
    bool is_known = false;
  };

  // Sets the caller, or returns why none is known.
  std::optional<Refusal> Authenticate(const Credentials& credentials, Caller* caller) const;
  // Returns why the caller may not call the method, or nullopt if they may.
  std::optional<Refusal> Refuse(const Credentials& credentials, std::string_view method,
                                Caller* caller) const;
  // Reduces the caller's scope to the grants for the method. Returns a refusal if none is left.
  static std::optional<Refusal> Limit(const MethodRule& rule, Caller* caller);
  void Record(std::vector<core::DenialCount> due, absl::Time now);

  core::DurableLedger& ledger_;
  const AccessOptions options_;
  // Shared with callbacks that the ledger has yet to call.
  const std::shared_ptr<DenialCounts> denials_ = std::make_shared<DenialCounts>();
};

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_ACCESS_CONTROL_H_
