#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "server/access/access_control.h"
#include "server/access/caller.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// The full name of the method that takes this request, the one without a stream of them; empty if
// there is none.
std::string_view MethodTaking(const google::protobuf::Descriptor& request);

// The door that every call comes through: what is known of the caller, before
// access::AccessControl. Thread-safe.
class Admission {
 public:
  // `verifies_certificates`: this server asks clients for certificates, so that one that arrives
  // was verified. REQUIRES: `control` outlives it.
  Admission(access::AccessControl& control, bool verifies_certificates)
      : control_(control), verifies_certificates_(verifies_certificates) {}

  // Who calls, if they may; as AccessControl::Admit.
  absl::StatusOr<access::Caller> Admit(const wire::CallOrigin& origin, std::string_view method,
                                       access::Caller* denied = nullptr) const;
  // Whether calls without credentials are refused.
  bool IsAccessControlOn() const { return control_.IsOn(); }

 private:
  access::Credentials CredentialsOf(const wire::CallOrigin& origin) const;

  access::AccessControl& control_;
  const bool verifies_certificates_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
