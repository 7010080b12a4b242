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

// The fields of a type of request that name its resource, for the access log: the charge, attempt,
// session, budget or token, or the new resource below one.
class ResourceFields {
 public:
  static constexpr size_t kMaxBytes = 256;

  explicit ResourceFields(const google::protobuf::Descriptor& request);
  // Returns at most kMaxBytes of the received name, valid or not; empty if the request has none.
  std::string Of(const google::protobuf::Message& request) const;

 private:
  // Texts, or messages with a name. The name uses the first of `names_` that is set, and all of
  // `ids_`.
  std::vector<const google::protobuf::FieldDescriptor*> names_;
  std::vector<const google::protobuf::FieldDescriptor*> ids_;
};

// Records a call that ends now, if there is a log. `caller`: as far as known.
void Record(access_log::AccessLog* log, std::string_view method, const wire::CallOrigin& origin,
            access::Caller caller, std::string resource, SteadyTime arrival,
            const grpc::Status& status);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_CALL_RECORD_H_
