#ifndef EPSLEDGER_SERVER_CORE_TENANT_H_
#define EPSLEDGER_SERVER_CORE_TENANT_H_

// Tenants own ledgers. A ledger belongs as a whole to one tenant and does not mention it: entries
// and answers have plain ids, and only the maps from ids to ledgers, in memory and in the store,
// know tenants. So answers need no filtering, and no answer can show another tenant.

#include <cstddef>
#include <string>
#include <string_view>

namespace epsledger::core {

// The empty name belongs to the tenant of a server without access control.
struct Tenant {
  std::string name;
};
inline bool operator==(const Tenant& a, const Tenant& b) { return a.name == b.name; }

// Returns the name of a tenant's budget in the store: "acme/people", or "people" for the tenant
// without a name. Tenant names and budget ids contain no '/'.
inline std::string StoredId(std::string_view tenant_name, std::string_view budget_id) {
  std::string id(tenant_name);
  if (!id.empty()) id += '/';
  return id.append(budget_id);
}

// Returns the tenant of a stored name.
inline std::string_view TenantNameOf(std::string_view stored_id) {
  const size_t slash = stored_id.find('/');
  return slash == stored_id.npos ? std::string_view() : stored_id.substr(0, slash);
}

// Returns the budget id of a stored name.
inline std::string_view BudgetIdOf(std::string_view stored_id) {
  return stored_id.substr(stored_id.find('/') + 1);  // npos + 1 is 0
}

// The ledger of tokens and denials. No tenant name or budget id begins with '@'.
inline constexpr char kAccessRootId[] = "@access";

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_TENANT_H_
