#include "server/transport/grpc/handlers/accounting_handlers.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "epsledger/v1/accounting_service.grpc.pb.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "proto/convert/accountant_readings.h"
#include "proto/convert/compute.h"
#include "proto/convert/enum_convert.h"
#include "proto/convert/mechanism_convert.h"
#include "server/transport/grpc/calls/not_in_this_version.h"

namespace epsledger::transport {
namespace {

using Bytes = grpc::ByteBuffer;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

using RawService = v1::AccountingService::WithRawCallbackMethod_Compute<
    v1::AccountingService::WithRawCallbackMethod_CompareAccountants<
        v1::AccountingService::WithRawCallbackMethod_AuditCanaries<
            v1::AccountingService::Service>>>;

class AccountingHandlers final : public RawService {
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
    return Handle<v1::CompareAccountantsRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::CompareAccountantsRequest& request, const Call& call) {
          return Compare(request, call);
        });
  }

  Unary* AuditCanaries(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(
        context, "AuditCanaries will bound epsilon from below by the scores of canaries");
  }

 private:
  absl::Status Compare(const v1::CompareAccountantsRequest& request, const Call& call) {
    if (request.events_size() > convert::kMaxComputeEvents) {
      return accounting::OutOfDomain("events", absl::StrCat(request.events_size(), " events"),
                                     absl::StrCat("at most ", convert::kMaxComputeEvents));
    }
    absl::StatusOr<std::vector<accounting::CountedEvent>> events =
        convert::FromProto(request.events(), "events");
    if (!events.ok()) return events.status();
    absl::StatusOr<accounting::NeighboringRelation> relation =
        accounting::NeighboringRelation::kAddOrRemoveOne;
    if (request.neighboring_relation() != v1::NeighboringRelation::KIND_UNSPECIFIED) {
      relation = convert::FromProto(request.neighboring_relation(), "neighboringRelation");
      if (!relation.ok()) return relation.status();
    }
    absl::Status status =
        accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability);
    if (!status.ok()) return status;
    return context_.computations->Submit([call, events = *std::move(events), relation = *relation,
                                          delta = request.delta()] {
      if (call->Abandoned()) return;
      v1::CompareAccountantsResponse response;
      for (v1::AccountantReading& reading : convert::ReadEveryAccountant(events, relation, delta)) {
        *response.add_readings() = std::move(reading);
      }
      call->Succeed(response);
    });
  }

  const HandlerContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAccountingService(HandlerContext context) {
  return std::make_unique<AccountingHandlers>(std::move(context));
}

}  // namespace epsledger::transport
