#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_CALL_RECORD_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_CALL_RECORD_H_

#include <string>
#include <string_view>

#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"
#include "server/access/access_log.h"
#include "server/access/caller.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// The name that a request is about, for the access log: of the charge, attempt, session, budget or
// token, or of what is made below one. At most kMaxResourceBytes of what came, good or not; empty
// if there is none.
inline constexpr size_t kMaxResourceBytes = 256;
std::string ResourceOf(const google::protobuf::Message& request);

// A call that ends now, into the log if there is one. `caller`: as far as they are known.
void Record(access::AccessLog* log, std::string_view method, const wire::CallOrigin& origin,
            access::Caller caller, std::string resource, SteadyTime arrival,
            const grpc::Status& status);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_CALL_RECORD_H_
