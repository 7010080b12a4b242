#include "server/transport/http/change_client.h"

#include "absl/strings/str_cat.h"

namespace epsledger::transport {

void ChangeClient::Identify(const v1::Caller& who) {
  tenant = {who.tenant()};
  audience = who.tenant();
  // The name of a tenant contains no space.
  if (who.grants_size() > 0) absl::StrAppend(&audience, " ", who.principal());
}

ChangePositions ChangeClient::Positions() const {
  ChangePositions positions;
  for (const auto& [resource, one] : following) positions[resource] = one.told;
  return positions;
}

}  // namespace epsledger::transport
