#ifndef EPSLEDGER_SERVER_ACCESS_CALLER_H_
#define EPSLEDGER_SERVER_ACCESS_CALLER_H_

#include <memory>
#include <string>

#include "server/core/access_command.h"
#include "server/core/actor.h"
#include "server/core/grant.h"
#include "server/core/tenant.h"

namespace epsledger::access {

// The caller of a call.
struct Caller {
  core::Tenant tenant;
  core::Role role = core::Role::kViewer;
  // The limits of the caller in the called method; nullptr: none within the tenant.
  std::shared_ptr<const core::Scope> scope = nullptr;
  // "tokens/{token}", the name of a certificate, or kAnybody.
  std::string principal;
  // The id of the login that the caller uses; empty: none. `principal` is then the token of the
  // login.
  std::string login;
  // How the caller connected, and what the client says about itself.
  core::Door door = core::Door::kServer;
  std::string client;
};

inline core::Actor ActorOf(const Caller& caller) {
  return {.principal = caller.principal, .door = caller.door, .client = caller.client};
}

// The principal while access control is off.
inline constexpr char kAnybody[] = "anybody on this machine";

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_CALLER_H_
