#ifndef EPSLEDGER_PROTO_BRIDGE_GUARANTEE_CONVERT_H_
#define EPSLEDGER_PROTO_BRIDGE_GUARANTEE_CONVERT_H_

#include "accounting/guarantee.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/guarantee.pb.h"

namespace epsledger::bridge {

// Replaces the content of `message`. A number that is absent stays absent: unknown is not zero.
void ToProto(const accounting::Guarantee& guarantee, v1::Guarantee* message);

// Sets the same numbers in the answer of a computation, and those of a central limit or a fit of
// mu, which only a computation asks for. Does not change `id`, `seconds` and `error`.
void ToProto(const accounting::Guarantee& guarantee, v1::ComputeResponse* message);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_GUARANTEE_CONVERT_H_
