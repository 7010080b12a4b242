#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_OUTPUT_ONLY_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_OUTPUT_ONLY_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace epsledger::transport {

// Returns OK if no field of `resource` that is annotated OUTPUT_ONLY is set. Otherwise
// INVALID_ARGUMENT "budget.state: got a value, want unset: the server fills it in".
absl::Status CheckOutputOnlyUnset(const google::protobuf::Message& resource,
                                  const std::string& path);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_OUTPUT_ONLY_H_
