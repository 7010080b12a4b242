#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_HANDLER_CONTEXT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_HANDLER_CONTEXT_H_

// The context of every handler, and the two ways to the ledger.
//
// Handlers take requests as bytes, so that they can explain why a request does not parse.

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/access/access_control.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/computation_pool.h"
#include "server/transport/grpc/calls/open_calls.h"
#include "server/transport/grpc/calls/unary_call.h"
#include "server/transport/grpc/calls/watch_turns.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/head_key.h"

namespace epsledger::transport {

// REQUIRES: the ledger outlives every handler and every answer of it; open_calls and access outlive
// every open call.
struct HandlerContext {
  core::DurableLedger& ledger;
  OpenCalls& open_calls;
  // Shared with the streams, which may outlive the server.
  std::shared_ptr<OpenCalls> open_streams;
  std::shared_ptr<WatchTurns> watch_turns;
  // Shared with callbacks of the ledger, which may come after the server has gone.
  std::shared_ptr<ComputationPool> computations;
  access::AccessControl& access;
  std::shared_ptr<const HeadKey> head_key;
};

inline absl::Status NoSuchBudget(std::string_view budget_id) {
  return absl::NotFoundError(FormatBudgetName(budget_id) + ": there is no such budget");
}

inline absl::Status NoSuchSession(const core::SessionName& name) {
  return absl::NotFoundError(FormatSessionName(name) + ": there is no such session");
}

struct SubmitOptions {
  bool validate_only = false;
  std::optional<core::SeenHead> last_seen = {};
  std::optional<core::Approval> approval = {};
};

// Submits a command with the present time, on the ledgers of the caller's tenant, within their
// grants. Calls `reply`, void(const Outcome&), on a thread of the ledger with the durable outcome,
// the Outcome alternative that belongs to the command. Answers errors itself.
template <class Outcome, class Body, class Reply>
void SubmitNow(core::DurableLedger& ledger, Body body, SubmitOptions options, const Call& call,
               Reply reply) {
  core::Command command{.time_micros = absl::ToUnixMicros(absl::Now()),
                        .validate_only = options.validate_only,
                        .last_seen = std::move(options.last_seen),
                        .actor = access::ActorOf(call->caller()),
                        .scope = call->caller().scope,
                        .approval = std::move(options.approval),
                        .body = std::move(body),
                        .abandoned = [call] { return call->Abandoned(); }};
  ledger.Submit(call->caller().tenant, std::move(command),
                [call, reply = std::move(reply)](absl::StatusOr<core::Outcome> outcome) mutable {
                  if (!outcome.ok()) {
                    call->Fail(outcome.status());
                    return;
                  }
                  reply(std::get<Outcome>(*outcome));
                });
}

// Reads the durable state of the caller's tenant, if their grants cover the subject of the call;
// otherwise answers NOT_FOUND. Calls `read`, absl::Status(core::LedgerReader&), on a thread of the
// ledger: it copies what it needs and answers, or returns the error to answer.
template <class ReadFunction>
void ReadState(core::DurableLedger& ledger, const Call& call, ReadFunction read) {
  ledger.Read(call->caller().tenant,
              [call, read = std::move(read)](absl::StatusOr<core::LedgerReader*> reader) mutable {
                absl::Status status = reader.status();
                if (status.ok() && call->subject().has_value()) {
                  status = CheckScope(**reader, call->caller(), *call->subject());
                }
                if (status.ok()) status = read(**reader);
                if (!status.ok()) call->Fail(status);
              });
}

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_HANDLER_CONTEXT_H_
