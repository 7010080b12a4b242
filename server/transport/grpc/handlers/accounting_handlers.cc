#include "server/transport/grpc/handlers/accounting_handlers.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/v1/accounting_service.grpc.pb.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "proto/convert/accountant_readings.h"
#include "proto/convert/canary_audit.h"
#include "proto/convert/compute.h"
#include "proto/convert/curves.h"

namespace epsledger::transport {
namespace {

using Bytes = grpc::ByteBuffer;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

using AccountingRaw = v1::AccountingService::WithRawCallbackMethod_Compute<
    v1::AccountingService::WithRawCallbackMethod_CompareAccountants<
        v1::AccountingService::WithRawCallbackMethod_GetPrivacyProfile<
            v1::AccountingService::WithRawCallbackMethod_GetTradeOffCurve<
                v1::AccountingService::WithRawCallbackMethod_AuditCanaries<
                    v1::AccountingService::Service>>>>>;

class AccountingHandlers final : public AccountingRaw {
 public:
  explicit AccountingHandlers(HandlerContext context) : context_(std::move(context)) {}

  Unary* Compute(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::ComputeRequest>(
        context_.open_calls, context, bytes, response,
        [this](v1::ComputeRequest& request, const Call& call) -> absl::Status {
          // What is wrong with the request is said at once, not after those that wait.
          absl::Status status = convert::ToQuestion(request).status();
          if (!status.ok()) return status;
          return context_.computations->Submit([call, request = std::move(request)] {
            if (call->Abandoned()) return;
            const absl::StatusOr<v1::ComputeResponse> answer = convert::Compute(request);
            if (answer.ok()) {
              call->Succeed(*answer);
            } else {
              call->Fail(answer.status());
            }
          });
        });
  }

  Unary* CompareAccountants(Context* context, const Bytes* bytes, Bytes* response) override {
    return HandleAsked<v1::CompareAccountantsRequest>(context, bytes, response,
                                                      convert::CompareAccountants);
  }

  Unary* GetPrivacyProfile(Context* context, const Bytes* bytes, Bytes* response) override {
    return HandleAsked<v1::GetPrivacyProfileRequest>(context, bytes, response,
                                                     convert::PrivacyProfile);
  }

  Unary* GetTradeOffCurve(Context* context, const Bytes* bytes, Bytes* response) override {
    return HandleAsked<v1::GetTradeOffCurveRequest>(context, bytes, response,
                                                    convert::TradeOffCurve);
  }

  Unary* AuditCanaries(Context* context, const Bytes* bytes, Bytes* response) override {
    return HandleAsked<v1::AuditCanariesRequest>(
        context, bytes, response, [](const accounting::AuditQuestion& question, const auto&) {
          return convert::AuditCanaries(question);
        });
  }

 private:
  // Says at once what is wrong with the request; asks `ask(question, abandoned)` of what is right,
  // on a thread of the computations and for as long as somebody waits.
  template <class Request, class Ask>
  Unary* HandleAsked(Context* context, const Bytes* bytes, Bytes* response, Ask ask) {
    return Handle<Request>(
        context_.open_calls, context, bytes, response,
        [this, ask](const Request& request, const Call& call) -> absl::Status {
          auto question = convert::ToQuestion(request);
          if (!question.ok()) return question.status();
          return context_.computations->Submit([call, ask, question = *std::move(question)] {
            const auto answer = ask(question, [&call] { return call->Abandoned(); });
            if (answer.ok()) {
              call->Succeed(*answer);
            } else {
              call->Fail(answer.status());
            }
          });
        });
  }

  const HandlerContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAccountingService(HandlerContext context) {
  return std::make_unique<AccountingHandlers>(std::move(context));
}

}  // namespace epsledger::transport
