#ifndef EPSLEDGER_SERVER_ACCESS_CERTIFICATE_SUBJECT_H_
#define EPSLEDGER_SERVER_ACCESS_CERTIFICATE_SUBJECT_H_

#include <optional>
#include <string_view>

#include "server/access/caller.h"

namespace epsledger::access {

// Whom a client certificate (PEM) names: subject O = tenant, OU = role, CN = name. Nothing if it
// does not parse, lacks one of them or gives one twice, names a tenant that cannot be, or has the
// name of another kind of principal ("tokens/...", "oidc/...", kAnybody). So a certificate is never
// of the tenant without a name. Says nothing of whether the certificate can be trusted.
std::optional<Caller> CallerOf(std::string_view certificate_pem);

// True for the names a tenant may have: [a-z0-9] followed by up to 62 of [a-z0-9._-], or none.
bool IsTenantName(std::string_view name);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_CERTIFICATE_SUBJECT_H_
