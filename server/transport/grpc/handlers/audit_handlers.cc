#include "server/transport/grpc/handlers/audit_handlers.h"

#include <string>
#include <utility>

#include "epsledger/v1/audit_service.grpc.pb.h"
#include "epsledger/v1/audit_service.pb.h"
#include "server/core/ledger.h"
#include "server/transport/grpc/calls/not_in_this_version.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/handlers/list_denials.h"

namespace epsledger::transport {
namespace {

using Bytes = grpc::ByteBuffer;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

template <class Base>
using Raw1 = v1::AuditService::WithRawCallbackMethod_GetLedgerHead<
    v1::AuditService::WithRawCallbackMethod_ListAuditEntries<
        v1::AuditService::WithRawCallbackMethod_ProveInclusion<
            v1::AuditService::WithRawCallbackMethod_ProveConsistency<Base>>>>;
template <class Base>
using Raw2 = v1::AuditService::WithRawCallbackMethod_VerifyLedger<
    v1::AuditService::WithRawCallbackMethod_ExportLedger<
        v1::AuditService::WithRawCallbackMethod_GetPrivacyStatement<
            v1::AuditService::WithRawCallbackMethod_ListDenials<Base>>>>;

class AuditHandlers final : public Raw1<Raw2<v1::AuditService::Service>> {
 public:
  explicit AuditHandlers(HandlerContext context) : context_(std::move(context)) {}

  Unary* GetLedgerHead(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::GetLedgerHeadRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::GetLedgerHeadRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("budget", request.budget());
          if (!id.ok()) return id.status();
          ReadState(context_.ledger, call,
                    [call, id = *std::move(id)](core::LedgerReader& reader) -> absl::Status {
                      const core::Ledger* ledger = reader.LedgerOf(id);
                      if (ledger == nullptr) return NoSuchBudget(id);
                      v1::LedgerHead message;
                      message.set_root_budget(FormatBudgetName(ledger->root_id()));
                      message.set_sequence(ledger->head().sequence);
                      const core::Hash& hash = ledger->head().hash;
                      message.set_hash(hash.data(), hash.size());
                      call->Succeed(message);
                      return absl::OkStatus();
                    });
          return absl::OkStatus();
        });
  }

  Unary* ListAuditEntries(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(context, "ListAuditEntries will page through the entries");
  }
  Unary* ProveInclusion(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(context, "ProveInclusion will prove that an entry is in a ledger");
  }
  Unary* ProveConsistency(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(
        context, "ProveConsistency will prove that a ledger grew from another by appending");
  }
  Unary* VerifyLedger(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(context, "VerifyLedger will check the hash chain on demand");
  }
  grpc::ServerWriteReactor<Bytes>* ExportLedger(Context*, const Bytes*) override {
    return StreamNotInThisVersion("ExportLedger will stream all entries of a ledger");
  }
  Unary* GetPrivacyStatement(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(
        context, "GetPrivacyStatement will return a signed account of what a budget guarantees");
  }
  Unary* ListDenials(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::ListDenialsRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::ListDenialsRequest& request, const Call& call) {
          return transport::ListDenials(context_, request, call);
        });
  }

 private:
  const HandlerContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAuditService(HandlerContext context) {
  return std::make_unique<AuditHandlers>(std::move(context));
}

}  // namespace epsledger::transport
