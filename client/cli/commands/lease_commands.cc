#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/attempt_flags.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cpp/charging.h"
#include "epsledger/refusal.h"

namespace epsledger::cli {
namespace {

struct AcquireFlags {
  std::string session;
  EventFlags event;
  AttemptFlags attempt;
  std::string lease_id;
  int64_t time_to_live_seconds = 24 * 3600;
};

void Acquire(Invocation& invocation, const AcquireFlags& flags) {
  const absl::StatusOr<std::string> session = SessionName(flags.session);
  if (!session.ok()) return invocation.Fail(session.status(), CallKind::kRead);
  const absl::StatusOr<v1::CountedEvent> event = flags.event.ToCheckedMessage();
  if (!event.ok()) return invocation.Fail(event.status(), CallKind::kRead);
  if (invocation.flags().dry_run) {
    return invocation.Fail(
        absl::InvalidArgumentError(
            "--dry-run: a lease has no such form; `charge preview` says whether it would fit"),
        CallKind::kRead);
  }
  const std::optional<std::string> attempt = flags.attempt.AttemptName(invocation, *session);
  if (!attempt.has_value()) return;
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  v1::AcquireLeaseRequest request;
  request.set_attempt(*attempt);
  request.set_lease_id(flags.lease_id.empty() ? MakeKey() : flags.lease_id);
  *request.mutable_event() = event->event();
  request.set_count(event->count());
  request.mutable_time_to_live()->set_seconds(flags.time_to_live_seconds);
  const absl::StatusOr<v1::Lease> lease = LeaseUntilDefinite(**connection, request);
  if (lease.ok()) return PrintLease(invocation, *lease);
  invocation.Fail(lease.status(), CallKind::kWrite);
  if (UnknownCharge(lease.status()).has_value()) {
    invocation.Tell(absl::StrCat("to ask for this lease again, repeat the command with --attempt ",
                                 LastSegment(*attempt), " --lease-id ", request.lease_id()));
  }
}

void Settle(Invocation& invocation, const std::string& text, int64_t used_count) {
  const absl::StatusOr<std::string> name = LeaseName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::SettleLeaseRequest request;
  request.set_name(*name);
  request.set_used_count(used_count);
  const auto lease =
      invocation.Call(&Connection::charges, &v1::ChargeService::StubInterface::SettleLease, request,
                      CallKind::kWrite);
  if (lease != nullptr) PrintLease(invocation, *lease);
}

}  // namespace

void AddLeaseCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* lease = app.add_subcommand("lease", "Blocks of steps that are charged up front");
  lease->require_subcommand(1);
  lease->fallthrough();

  auto flags = std::make_shared<AcquireFlags>();
  CLI::App* acquire = lease->add_subcommand(
      "acquire", "Charge --count steps up front, to spend without asking; nothing is returned");
  acquire->fallthrough();
  acquire->add_option("session", flags->session, "BUDGET/SESSION")->required();
  flags->event.AddTo(*acquire);
  flags->attempt.AddTo(*acquire);
  acquire
      ->add_option("--lease-id", flags->lease_id,
                   "the idempotency key: a repeated key is charged once; default: a new one")
      ->type_name("ID");
  acquire
      ->add_option("--time-to-live", flags->time_to_live_seconds,
                   "the time after which people should ask about the lease; default: a day")
      ->type_name("SECONDS");
  acquire->footer(
      "Example:\n  epsctl lease acquire adult/run-1 --attempt 1 --gaussian 40 --count 10");
  acquire->callback([&invocation, flags] { Acquire(invocation, *flags); });

  auto settled = std::make_shared<std::pair<std::string, int64_t>>();
  CLI::App* settle =
      lease->add_subcommand("settle", "Record how much of a lease was used; the rest is wasted");
  settle->fallthrough();
  settle->add_option("lease", settled->first, "BUDGET/SESSION/ATTEMPT/LEASE")->required();
  settle->add_option("--used", settled->second, "steps that were done")->type_name("N")->required();
  settle->footer("Example:\n  epsctl lease settle adult/run-1/1/lease-1 --used 7");
  settle->callback([&invocation, settled] { Settle(invocation, settled->first, settled->second); });
}

}  // namespace epsledger::cli
