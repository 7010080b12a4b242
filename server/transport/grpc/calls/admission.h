#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/server_context.h"
#include "server/access/access_control.h"
#include "server/access/caller.h"

namespace epsledger::transport {

// Metadata that says of a call through the in-process channel: this process made it for somebody
// over HTTP whose credentials nobody on the way could read. It holds for the pass of this very
// server, which is a secret, and from elsewhere it says nothing.
inline constexpr char kInProcessPassMetadata[] = "epsledger-in-process-pass";

// The full name of the method that takes this request, the one without a stream of them; empty if
// there is none.
std::string_view MethodTaking(const google::protobuf::Descriptor& request);

// The door that every call comes through: what gRPC knows of the caller, before
// access::AccessControl. Thread-safe.
class Admission {
 public:
  // `verifies_certificates`: this server asks clients for certificates, so that one that arrives
  // was verified. `in_process_pass`: empty for none. REQUIRES: `control` outlives it.
  Admission(access::AccessControl& control, bool verifies_certificates,
            std::string in_process_pass = "")
      : control_(control),
        verifies_certificates_(verifies_certificates),
        in_process_pass_(std::move(in_process_pass)) {}

  // Who calls, if they may; as AccessControl::Admit. For streams: before anything is read.
  absl::StatusOr<access::Caller> Admit(const grpc::ServerContextBase& context,
                                       std::string_view method) const;
  // The same for methods that are open to every caller who is known.
  absl::StatusOr<access::Caller> AdmitAnyRole(const grpc::ServerContextBase& context,
                                              std::string_view method) const;

 private:
  bool HasInProcessPass(const grpc::ServerContextBase& context) const;
  access::Credentials CredentialsOf(const grpc::ServerContextBase& context) const;

  access::AccessControl& control_;
  const bool verifies_certificates_;
  const std::string in_process_pass_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
