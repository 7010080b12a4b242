#ifndef EPSLEDGER_SERVER_ACCESS_CALLER_H_
#define EPSLEDGER_SERVER_ACCESS_CALLER_H_

#include <memory>
#include <string>

#include "server/core/access_command.h"
#include "server/core/actor.h"
#include "server/core/grant.h"
#include "server/core/tenant.h"

namespace epsledger::access {

// Who makes a call.
struct Caller {
  core::Tenant tenant;
  core::Role role = core::Role::kViewer;
  // What they are limited to in the method that they call; nullptr: to nothing in their tenant.
  std::shared_ptr<const core::Scope> scope = nullptr;
  // "tokens/{token}", the name of a certificate, or kAnybody.
  std::string principal;
  // The id of the login that they call with; empty: none. Its principal is the token that it is of.
  std::string login;
  // How they came, and what they say of themselves.
  core::Door door = core::Door::kServer;
  std::string client;
};

inline core::Actor ActorOf(const Caller& caller) {
  return {.principal = caller.principal, .door = caller.door, .client = caller.client};
}

// Where there is no access control.
inline constexpr char kAnybody[] = "anybody on this machine";

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_CALLER_H_
