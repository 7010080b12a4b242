#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/server_context.h"
#include "server/access/access_control.h"
#include "server/access/caller.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// Metadata of a call through the in-process channel. The pass, a secret of this very server, says
// that a door of this process made the call for a client, and that what the other two say of the
// client is true.
inline constexpr char kInProcessPassMetadata[] = "epsledger-in-process-pass";
inline constexpr char kInProcessPeerMetadata[] = "epsledger-in-process-peer";
inline constexpr char kInProcessCertificateMetadata[] = "epsledger-in-process-certificate-bin";

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
  // The same of a call of which no more than its headers came.
  absl::StatusOr<access::Caller> Admit(const wire::CallOrigin& origin,
                                       std::string_view method) const;

  // The metadata of calls that come from the peer, without what the client says of itself.
  std::vector<std::pair<std::string, std::string>> Introduce(const wire::Peer& peer) const;

 private:
  bool HasInProcessPass(const grpc::ServerContextBase& context) const;
  wire::CallOrigin OriginOf(const grpc::ServerContextBase& context) const;
  access::Credentials CredentialsOf(const wire::CallOrigin& origin) const;

  access::AccessControl& control_;
  const bool verifies_certificates_;
  const std::string in_process_pass_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
