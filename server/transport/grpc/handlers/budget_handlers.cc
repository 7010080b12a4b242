#include "server/transport/grpc/handlers/budget_handlers.h"

#include <string>
#include <utility>
#include <vector>

#include "epsledger/v1/budget_service.grpc.pb.h"
#include "epsledger/v1/budget_service.pb.h"
#include "server/core/ledger.h"
#include "server/transport/grpc/calls/not_in_this_version.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/limits.h"

namespace epsledger::transport {
namespace {

using Bytes = grpc::ByteBuffer;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

template <class Base>
using Raw1 = v1::BudgetService::WithRawCallbackMethod_CreateBudget<
    v1::BudgetService::WithRawCallbackMethod_GetBudget<
        v1::BudgetService::WithRawCallbackMethod_ListBudgets<
            v1::BudgetService::WithRawCallbackMethod_FreezeBudget<Base>>>>;
template <class Base>
using Raw2 = v1::BudgetService::WithRawCallbackMethod_CloseBudget<
    v1::BudgetService::WithRawCallbackMethod_SupersedeBudget<
        v1::BudgetService::WithRawCallbackMethod_GetBudgetTree<
            v1::BudgetService::WithRawCallbackMethod_WatchBudget<Base>>>>;

constexpr char kBudgetList[] = "budgets";

absl::Status AnswerBudget(core::LedgerReader& reader, const std::string& id, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(id);
  const core::BudgetState* budget = ledger == nullptr ? nullptr : ledger->FindBudget(id);
  if (budget == nullptr) return NoSuchBudget(id);
  v1::Budget message;
  ToProto(*budget, &message);
  call->Succeed(message);
  return absl::OkStatus();
}

class BudgetHandlers final : public Raw1<Raw2<v1::BudgetService::Service>> {
 public:
  explicit BudgetHandlers(HandlerContext context) : context_(std::move(context)) {}

  Unary* CreateBudget(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::CreateBudgetRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::CreateBudgetRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::BudgetSpec> spec = FromProto(request);
          if (!spec.ok()) return spec.status();
          v1::Budget preview;
          if (request.validate_only()) ToProto(*spec, &preview);
          SubmitNow<core::BudgetOutcome>(
              context_.ledger, core::CreateBudget{*std::move(spec)}, request.validate_only(), call,
              [&ledger = context_.ledger, call, validate_only = request.validate_only(),
               preview = std::move(preview)](const core::BudgetOutcome& outcome) {
                if (validate_only && outcome.created) {
                  call->Succeed(preview);
                  return;
                }
                ReadState(ledger, call, [call, id = outcome.budget_id](core::LedgerReader& reader) {
                  return AnswerBudget(reader, id, call);
                });
              });
          return absl::OkStatus();
        });
  }

  Unary* GetBudget(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::GetBudgetRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::GetBudgetRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("name", request.name());
          if (!id.ok()) return id.status();
          ReadState(context_.ledger, call, [call, id = *std::move(id)](core::LedgerReader& reader) {
            return AnswerBudget(reader, id, call);
          });
          return absl::OkStatus();
        });
  }

  Unary* ListBudgets(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::ListBudgetsRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::ListBudgetsRequest& request, const Call& call) -> absl::Status {
          const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
          if (!size.ok()) return size.status();
          absl::StatusOr<std::string> after = ReadPageToken(kBudgetList, request.page_token());
          if (!after.ok()) return after.status();
          ReadState(context_.ledger, call,
                    [call, size = *size, after = *std::move(after)](core::LedgerReader& reader) {
                      return AnswerList(reader, after, size, call);
                    });
          return absl::OkStatus();
        });
  }

  Unary* FreezeBudget(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(context, "FreezeBudget will refuse charges until thawed");
  }
  Unary* CloseBudget(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(context, "CloseBudget will end a budget for good");
  }
  Unary* SupersedeBudget(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(
        context, "SupersedeBudget will replace a budget by a larger one, whose old guarantee ends");
  }
  Unary* GetBudgetTree(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(context,
                                 "GetBudgetTree will return a budget with its descendants");
  }
  grpc::ServerWriteReactor<Bytes>* WatchBudget(Context*, const Bytes*) override {
    return StreamNotInThisVersion("WatchBudget will stream every change of a budget, once each");
  }

 private:
  static absl::Status AnswerList(core::LedgerReader& reader, const std::string& after, int64_t size,
                                 const Call& call) {
    const std::vector<std::string> ids = reader.BudgetIds(after, size + 1);
    v1::ListBudgetsResponse response;
    size_t bytes = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (static_cast<int64_t>(i) == size || bytes > kMaxPageBytes) {
        response.set_next_page_token(MakePageToken(kBudgetList, ids[i - 1]));
        break;
      }
      ToProto(*reader.LedgerOf(ids[i])->FindBudget(ids[i]), response.add_budgets());
      bytes += response.budgets().rbegin()->ByteSizeLong();
    }
    call->Succeed(response);
    return absl::OkStatus();
  }

  const HandlerContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeBudgetService(HandlerContext context) {
  return std::make_unique<BudgetHandlers>(std::move(context));
}

}  // namespace epsledger::transport
