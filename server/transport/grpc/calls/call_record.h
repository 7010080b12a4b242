#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_CALL_RECORD_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_CALL_RECORD_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"
#include "server/access/caller.h"
#include "server/access_log/access_log.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// The fields of a kind of request that name what it is about, for the access log: the charge,
// attempt, session, budget or token, or what is made below one.
class ResourceFields {
 public:
  static constexpr size_t kMaxBytes = 256;

  explicit ResourceFields(const google::protobuf::Descriptor& request);
  // At most kMaxBytes of what came, good or not; empty if there is none.
  std::string Of(const google::protobuf::Message& request) const;

 private:
  // Texts, or messages with a name. The first of `names_` that is set, and all of `ids_`.
  std::vector<const google::protobuf::FieldDescriptor*> names_;
  std::vector<const google::protobuf::FieldDescriptor*> ids_;
};

// A call that ends now, into the log if there is one. `caller`: as far as they are known.
void Record(access_log::AccessLog* log, std::string_view method, const wire::CallOrigin& origin,
            access::Caller caller, std::string resource, SteadyTime arrival,
            const grpc::Status& status);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_CALL_RECORD_H_
