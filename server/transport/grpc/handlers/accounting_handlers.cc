#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "proto/bridge/accountant_readings.h"
#include "proto/bridge/canary_audit.h"
#include "proto/bridge/compute.h"
#include "proto/bridge/curves.h"
#include "server/transport/grpc/handlers/service_handlers.h"

namespace epsledger::transport {
namespace {

class AccountingHandlers {
 public:
  explicit AccountingHandlers(HandlerContext context) : context_(std::move(context)) {}

  void Compute(wire::UnaryRequest arrived) {
    Handle<v1::ComputeRequest>(
        context_.open_calls, std::move(arrived),
        [this](v1::ComputeRequest& request, const Call& call) -> absl::Status {
          // Report errors in the request immediately, not after the waiting computations.
          RETURN_IF_ERROR(bridge::ToQuestion(request).status());
          return context_.computations->Submit(
              call->caller().tenant, [call, request = std::move(request)] {
                if (call->Abandoned()) return;
                const absl::StatusOr<v1::ComputeResponse> answer = bridge::Compute(request);
                if (answer.ok()) {
                  call->Succeed(*answer);
                } else {
                  call->Fail(answer.status());
                }
              });
        });
  }

  void CompareAccountants(wire::UnaryRequest arrived) {
    HandleAsked<v1::CompareAccountantsRequest>(std::move(arrived), bridge::CompareAccountants);
  }

  void GetPrivacyProfile(wire::UnaryRequest arrived) {
    HandleAsked<v1::GetPrivacyProfileRequest>(std::move(arrived), bridge::PrivacyProfile);
  }

  void GetTradeOffCurve(wire::UnaryRequest arrived) {
    HandleAsked<v1::GetTradeOffCurveRequest>(std::move(arrived), bridge::TradeOffCurve);
  }

  void AuditCanaries(wire::UnaryRequest arrived) {
    HandleAsked<v1::AuditCanariesRequest>(
        std::move(arrived), [](const accounting::AuditQuestion& question, const auto&) {
          return bridge::AuditCanaries(question);
        });
  }

 private:
  // Reports errors in the request immediately. For a valid request, runs `ask(question, abandoned)`
  // on a thread of the computation pool, while somebody waits for the answer.
  template <class Request, class Ask>
  void HandleAsked(wire::UnaryRequest arrived, Ask ask) {
    Handle<Request>(context_.open_calls, std::move(arrived),
                    [this, ask](const Request& request, const Call& call) -> absl::Status {
                      auto question = bridge::ToQuestion(request);
                      if (!question.ok()) return question.status();
                      return context_.computations->Submit(
                          call->caller().tenant, [call, ask, question = *std::move(question)] {
                            const auto answer =
                                ask(question, [&call] { return call->Abandoned(); });
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

void AddAccountingService(const HandlerContext& context, ServiceMethods& methods) {
  methods.Add("epsledger.v1.AccountingService", std::make_shared<AccountingHandlers>(context),
              {{"Compute", &AccountingHandlers::Compute},
               {"CompareAccountants", &AccountingHandlers::CompareAccountants},
               {"GetPrivacyProfile", &AccountingHandlers::GetPrivacyProfile},
               {"GetTradeOffCurve", &AccountingHandlers::GetTradeOffCurve},
               {"AuditCanaries", &AccountingHandlers::AuditCanaries}});
}

}  // namespace epsledger::transport
