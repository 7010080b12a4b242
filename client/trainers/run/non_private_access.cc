#include "client/trainers/run/non_private_access.h"

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "epsledger/mechanism.h"

namespace epsledger::trainers {

absl::Status ChargeNonPrivateAccess(Session& session, const std::string& reason) {
  nlohmann::json event;
  event["nonPrivate"]["reason"] = reason;
  const absl::StatusOr<Mechanism> mechanism =
      Mechanism::FromJson(event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  if (!mechanism.ok()) return mechanism.status();
  // The permit goes unused: it is for noise, and there is none.
  return session.Charge(*mechanism).status();
}

}  // namespace epsledger::trainers
