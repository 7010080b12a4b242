#ifndef EPSLEDGER_SERVER_ACCESS_CERTIFICATE_SUBJECT_H_
#define EPSLEDGER_SERVER_ACCESS_CERTIFICATE_SUBJECT_H_

#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "server/access/caller.h"

namespace epsledger::access {

// The caller that a client certificate names, and until when.
struct CertifiedCaller {
  Caller caller;
  absl::Time expire_time;  // the certificate's notAfter
};

// Returns the caller that a client certificate (PEM) names: subject O = tenant, OU = role, CN =
// name. Returns nullopt if it does not parse, lacks one of these or has one twice, has an invalid
// tenant name, or has a name that could be taken for another: that of another kind of principal
// ("tokens/...", "oidc/...", kAnybody), one with a control, a character without width, a combining
// mark, a blank at an end or two blanks in a row. So a certificate never names the tenant without a
// name. Does not check whether the certificate can be trusted, or is valid now.
std::optional<CertifiedCaller> CallerOf(std::string_view certificate_pem);

// Returns true if a tenant may have the name: [a-z0-9] followed by up to 62 of [a-z0-9._-], or
// none.
bool IsTenantName(std::string_view name);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_CERTIFICATE_SUBJECT_H_
