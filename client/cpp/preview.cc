#include "client/cpp/preview.h"

#include "client/cpp/charging.h"
#include "client/cpp/mechanism_message.h"
#include "client/cpp/refusal_message.h"

namespace epsledger {

absl::StatusOr<ChargePreview> PreviewOf(Connection& connection, v1::PreviewChargeRequest request,
                                        const Mechanism& mechanism, int64_t count) {
  if (absl::Status valid = ValidateCount(count); !valid.ok()) return valid;
  *request.mutable_event() = MechanismMessage::Of(mechanism);
  request.set_count(count);
  const absl::StatusOr<v1::PreviewChargeResponse> response = connection.Call(
      connection.charges(), &v1::ChargeService::StubInterface::PreviewCharge, request);
  if (!response.ok()) return response.status();
  ChargePreview preview;
  preview.accepted = response->decision() == v1::Charge::ACCEPTED;
  if (!preview.accepted) preview.refusal = FromMessage(response->refusal(), "");
  preview.steps_that_fit = response->steps_that_fit();
  return preview;
}

}  // namespace epsledger
