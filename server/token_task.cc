#include "server/token_task.h"

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "server/access/access_control.h"
#include "server/access/method_rules.h"

namespace epsledger {
namespace {

absl::StatusOr<core::Token> Submit(core::DurableLedger& ledger, core::AccessCommand access) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<core::Outcome>>>();
  ledger.Submit(
      core::Tenant(),
      {.time_micros = absl::ToUnixMicros(absl::Now()),
       .actor = core::Actor{.principal = "epsledgerd token", .door = core::Door::kOffline},
       .body = std::move(access)},
      [promise](absl::StatusOr<core::Outcome> outcome) { promise->set_value(std::move(outcome)); });
  ASSIGN_OR_RETURN(core::Outcome outcome, promise->get_future().get());
  return std::get<core::AccessOutcome>(std::move(outcome)).token;
}

absl::Status Create(const TokenFlags& flags, core::DurableLedger& ledger, std::ostream& out) {
  const absl::Time now = absl::Now();
  const std::optional<core::Role> role = access::RoleNamed(flags.role);
  if (!role) return absl::InvalidArgumentError("--role: want viewer, trainer or admin");
  ASSIGN_OR_RETURN(access::NewToken made,
                   access::DraftToken(core::Tenant{flags.tenant}, *role, flags.description,
                                      now + absl::Hours(24) * flags.days, now));
  RETURN_IF_ERROR(Submit(ledger, core::AccessCommand{core::CreateToken{.spec = made.token.spec,
                                                                       .beyond_limit = true}})
                      .status());
  out << made.secret << std::endl;
  return absl::OkStatus();
}

absl::Status List(const TokenFlags& flags, core::DurableLedger& ledger, std::ostream& out) {
  const absl::Time now = absl::Now();
  for (const auto& [hash, token] : *ledger.Tokens()) {
    if (token.spec.tenant != flags.tenant) continue;
    const char* state = token.revoked                  ? "REVOKED"
                        : access::IsActive(token, now) ? "ACTIVE"
                                                       : "EXPIRED";
    out << "tokens/" << token.spec.id << " " << access::Name(token.spec.role) << " " << state
        << " until "
        << absl::FormatTime(absl::FromUnixMicros(token.spec.expire_time_micros),
                            absl::UTCTimeZone())
        << " " << token.spec.description << "\n";
  }
  return absl::OkStatus();
}

absl::Status Revoke(const TokenFlags& flags, core::DurableLedger& ledger, std::ostream& out) {
  constexpr const char* kTokens = "tokens/";
  const std::string id(absl::StartsWith(flags.name, kTokens) ? flags.name.substr(7) : flags.name);
  ASSIGN_OR_RETURN(core::Token token,
                   Submit(ledger, core::AccessCommand{core::RevokeToken{{flags.tenant}, id}}));
  out << kTokens << token.spec.id << " is revoked" << std::endl;
  return absl::OkStatus();
}

}  // namespace

absl::Status RunTokenTask(const Flags& flags, core::DurableLedger& ledger, std::ostream& out) {
  switch (flags.token_task) {
    case TokenTask::kCreate:
      return Create(flags.token, ledger, out);
    case TokenTask::kList:
      return List(flags.token, ledger, out);
    case TokenTask::kRevoke:
      return Revoke(flags.token, ledger, out);
    case TokenTask::kNone:
      break;
  }
  return absl::InternalError("token: no task");
}

}  // namespace epsledger
