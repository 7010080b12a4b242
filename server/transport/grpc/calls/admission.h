#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/server_context.h"
#include "server/access/access_control.h"
#include "server/access/caller.h"

namespace epsledger::transport {

// The door that every call comes through: what gRPC knows of the caller, before
// access::AccessControl. Thread-safe.
class Admission {
 public:
  // `verifies_certificates`: this server asks clients for certificates, so that one that arrives
  // was verified. REQUIRES: `control` outlives it.
  Admission(access::AccessControl& control, bool verifies_certificates)
      : control_(control), verifies_certificates_(verifies_certificates) {}

  // Who calls, if they may; as AccessControl::Admit. For streams: before anything is read.
  absl::StatusOr<access::Caller> Admit(const grpc::ServerContextBase& context,
                                       std::string_view method) const;
  // The same for the method without a stream of requests that takes this one.
  absl::StatusOr<access::Caller> Admit(const grpc::ServerContextBase& context,
                                       const google::protobuf::Descriptor& request) const;
  // The same for methods that are open to every caller who is known.
  absl::StatusOr<access::Caller> AdmitAnyRole(const grpc::ServerContextBase& context,
                                              std::string_view method) const;

 private:
  access::Credentials CredentialsOf(const grpc::ServerContextBase& context) const;

  access::AccessControl& control_;
  const bool verifies_certificates_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
