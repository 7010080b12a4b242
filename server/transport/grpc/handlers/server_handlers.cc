#include <limits>
#include <utility>

#include "epsledger/v1/server_service.pb.h"
#include "server/core/ledger.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/limits.h"

namespace epsledger::transport {
namespace {

// Counts over all ledgers. Cost: one step for each budget.
void Count(core::LedgerReader& reader, v1::ServerInfo* info) {
  int64_t sessions = 0;
  int64_t entries = 0;
  const std::vector<std::string> ids = reader.BudgetIds("", std::numeric_limits<int64_t>::max());
  for (const std::string& id : ids) {
    const core::Ledger& ledger = *reader.LedgerOf(id);
    if (ledger.root_id() != id) continue;
    sessions += ledger.session_count();
    entries += ledger.head().sequence;
  }
  info->set_budget_count(static_cast<int64_t>(ids.size()));
  info->set_session_count(sessions);
  info->set_entry_count(entries);
}

// Returns a tenant's share: half of what all tenants share at one moment.
void Tell(const Quotas& quotas, v1::Quotas* message) {
  message->set_open_calls(kMaxOpenCalls / 2);
  message->set_open_request_bytes(kMaxOpenRequestBytes / 2);
  message->set_open_streams(kMaxOpenStreams / 2);
  message->set_queued_computations(kMaxQueuedComputations / 2);
  message->set_changes_per_second(quotas.changes_per_second_of_tenant);
  message->set_changes_per_second_of_caller(quotas.changes_per_second_of_caller);
  message->set_read_bytes_per_second(quotas.read_bytes_per_second_of_tenant);
  message->set_sessions(quotas.sessions_of_tenant);
  message->set_budgets(quotas.budgets_of_tenant);
}

class ServerHandlers {
 public:
  ServerHandlers(HandlerContext context, ServerFacts facts)
      : context_(std::move(context)), facts_(std::move(facts)) {}

  void GetServerInfo(wire::UnaryRequest arrived) {
    Handle<v1::GetServerInfoRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetServerInfoRequest&, const Call& call) -> absl::Status {
          v1::ServerInfo info;
          info.set_version(facts_.version);
          info.set_storage(facts_.storage);
          ToProto(absl::ToUnixMicros(facts_.start_time), info.mutable_start_time());
          info.set_statement_public_key(facts_.statement_public_key);
          for (const std::string& key : facts_.former_statement_public_keys) {
            info.add_former_statement_public_keys(key);
          }
          info.set_name(facts_.name);
          info.set_access_control(context_.open_calls.admission().IsAccessControlOn());
          Tell(facts_.quotas, info.mutable_quotas());
          for (const core::Incarnation& life : context_.ledger.Incarnations()) {
            v1::Incarnation* shown = info.add_incarnations();
            shown->set_id(life.id.data(), life.id.size());
            shown->mutable_begin_time()->set_seconds(life.begin_seconds);
            shown->set_reason(life.reason);
          }
          // A server whose ledger has stopped still answers this.
          if (const absl::Status health = context_.ledger.Health(); !health.ok()) {
            info.set_not_serving_reason(std::string(health.message()));
            call->Succeed(info);
            return absl::OkStatus();
          }
          // A caller with grants must not see the counts of all budgets.
          if (call->caller().scope != nullptr) {
            call->Succeed(info);
            return absl::OkStatus();
          }
          ReadState(context_.ledger, call,
                    [call, info](core::LedgerReader& reader) mutable -> absl::Status {
                      Count(reader, &info);
                      for (const core::QuarantinedLedger& ledger : reader.QuarantinedLedgers()) {
                        v1::Quarantine* shown = info.add_quarantines();
                        shown->set_root_budget("budgets/" + ledger.root_id);
                        shown->set_reason(ledger.reason);
                        shown->set_can_be_lifted(ledger.can_be_lifted);
                      }
                      call->Succeed(info);
                      return absl::OkStatus();
                    });
          return absl::OkStatus();
        });
  }

 private:
  const HandlerContext context_;
  const ServerFacts facts_;
};

}  // namespace

void AddServerService(const HandlerContext& context, ServerFacts facts, ServiceMethods& methods) {
  methods.Add("epsledger.v1.ServerService",
              std::make_shared<ServerHandlers>(context, std::move(facts)),
              {{"GetServerInfo", &ServerHandlers::GetServerInfo}});
}

}  // namespace epsledger::transport
