#include "client/cpp/preview.h"

#include "accounting/event/status_macros.h"
#include "client/cpp/charging.h"
#include "client/cpp/mechanism_message.h"
#include "client/cpp/refusal_message.h"

namespace epsledger {

absl::StatusOr<ChargePreview> PreviewOf(Connection& connection, v1::PreviewChargeRequest request,
                                        const Mechanism& mechanism, int64_t count) {
  RETURN_IF_ERROR(ValidateCount(count));
  *request.mutable_event() = MechanismMessage::Of(mechanism);
  request.set_count(count);
  ASSIGN_OR_RETURN(const v1::PreviewChargeResponse response,
                   connection.Call(connection.charges(),
                                   &v1::ChargeService::StubInterface::PreviewCharge, request));
  ChargePreview preview;
  preview.accepted = response.decision() == v1::Charge::ACCEPTED;
  if (!preview.accepted) preview.refusal = FromMessage(response.refusal(), "");
  preview.steps_that_fit = response.steps_that_fit();
  return preview;
}

}  // namespace epsledger
