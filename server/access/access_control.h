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
  // Access control is on from the start. Otherwise it is on from the first token there ever was.
  bool required = false;
  // Access control is off, whatever there is.
  bool insecure_off = false;
  // Knows callers by tokens that others issue; with one, access control is on. nullptr: there is
  // none. REQUIRES: it outlives the AccessControl.
  IdentityProvider* identity_provider = nullptr;
};

// What a call shows of its caller.
struct Credentials {
  // The value of the metadata "authorization", if there is one; of several, all joined by ','.
  std::optional<std::string> authorization;
  // The peer's certificate, verified by the transport. Empty: the peer has none.
  std::string certificate_pem;
  // False if others could have read it on the way: neither TLS nor from this machine.
  bool confidential = false;
  // Who calls if nothing else says it: "a peer over TLS", "a peer in plaintext", ...
  std::string kind_of_peer;
};

// A token that was just made, with its secret, which is told once.
struct NewToken {
  core::Token token;
  std::string secret;
};

// True if `token` lets its holder in at `now`.
bool IsActive(const core::Token& token, absl::Time now);

// As DraftToken checks grants; names "token.grants".
absl::Status CheckGrants(const std::vector<core::Grant>& grants);

// A new token with its secret; durable only once its CreateToken is. INVALID_ARGUMENT unless the
// tenant can be one, `expire_time` is in the future and at most ten years away, and `grants` name
// methods that can be granted and come to at most kMaxGrants and kMaxGrantBytes.
absl::StatusOr<NewToken> DraftToken(const core::Tenant& tenant, core::Role role,
                                    const std::string& description, absl::Time expire_time,
                                    absl::Time now, std::vector<core::Grant> grants = {});

// Who may call what. Deny by default: a method without a rule (method_rules.h) is denied to
// everybody, and so is a credential that is wrong in any way, also where access control is off.
// Thread-safe.
class AccessControl {
 public:
  // REQUIRES: `ledger` outlives it.
  AccessControl(core::DurableLedger& ledger, AccessOptions options);

  bool IsOn() const;

  // Who calls, if they may call `method` ("epsledger.v1.BudgetService.GetBudget"). A token comes
  // before a certificate. Looked up anew on every call: what expires or is revoked ends at once.
  //   UNAUTHENTICATED    no credential, or one that is not valid; says how to give a token
  //   PERMISSION_DENIED  names the method, and the role that it wants or that no grant names it
  // Counts what it denies. `*denied` is who was denied, if they are known and it is not nullptr.
  absl::StatusOr<Caller> Admit(const Credentials& credentials, std::string_view method,
                               Caller* denied = nullptr);

  // What was denied and is not recorded yet. Asked for in a read of the ledger, these and those in
  // the ledger are together each exactly once.
  std::shared_ptr<const DenialCounts> denials() const { return denials_; }
  // Records what is due of them (DenialCounts). To be called a few times a second.
  void RecordDueDenials(absl::Time now);
  // Records all. At the end.
  void RecordAllDenials();

 private:
  struct Refusal {
    absl::Status status;
    std::string reason;
    Caller who;  // as far as known
    bool is_known = false;
  };

  // The caller, or why there is none.
  std::optional<Refusal> Authenticate(const Credentials& credentials, Caller* caller) const;
  // Why the caller may not call the method, if they may not.
  std::optional<Refusal> Refuse(const Credentials& credentials, std::string_view method,
                                Caller* caller) const;
  // Leaves of the caller's scope what it has of the method; why nothing is left, if so.
  static std::optional<Refusal> Limit(const MethodRule& rule, Caller* caller);
  void Record(std::vector<core::DenialCount> due, absl::Time now);

  core::DurableLedger& ledger_;
  const AccessOptions options_;
  // Shared with what the ledger has yet to answer.
  const std::shared_ptr<DenialCounts> denials_ = std::make_shared<DenialCounts>();
};

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_ACCESS_CONTROL_H_
