#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "server/access/access_control.h"
#include "server/access/caller.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// Returns the full name of the method that takes this request and not a stream of requests; empty
// if none exists.
std::string_view MethodTaking(const google::protobuf::Descriptor& request);

// Every call passes through here: it collects what is known about the caller and asks
// access::AccessControl. Thread-safe.
class Admission {
 public:
  // `verifies_certificates`: this server asks clients for certificates, so that every received
  // certificate was verified. REQUIRES: `control` outlives this object.
  Admission(access::AccessControl& control, bool verifies_certificates)
      : control_(control), verifies_certificates_(verifies_certificates) {}

  // Returns the caller, if they may call; as AccessControl::Admit.
  absl::StatusOr<access::Caller> Admit(const wire::CallOrigin& origin, std::string_view method,
                                       access::Caller* denied = nullptr) const;
  // Returns whether calls without credentials are refused.
  bool IsAccessControlOn() const { return control_.IsOn(); }

 private:
  access::Credentials CredentialsOf(const wire::CallOrigin& origin) const;

  access::AccessControl& control_;
  const bool verifies_certificates_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ADMISSION_H_
