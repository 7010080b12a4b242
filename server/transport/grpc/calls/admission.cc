#include "server/transport/grpc/calls/admission.h"

#include <openssl/crypto.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/audit_service.pb.h"
#include "epsledger/v1/budget_service.pb.h"
#include "epsledger/v1/charge_service.pb.h"
#include "epsledger/v1/server_service.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/auth_context.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;

// The method that takes a request. A method with a stream of requests shares its message with the
// one without.
std::map<const Descriptor*, std::string> MethodsByRequest() {
  std::map<const Descriptor*, std::string> methods;
  for (const FileDescriptor* file :
       {v1::GetCallerRequest::descriptor()->file(), v1::ComputeRequest::descriptor()->file(),
        v1::ListDenialsRequest::descriptor()->file(), v1::GetBudgetRequest::descriptor()->file(),
        v1::ChargeRequest::descriptor()->file(), v1::GetServerInfoRequest::descriptor()->file(),
        v1::GetSessionRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto* method = file->service(s)->method(m);
        if (!method->client_streaming()) methods[method->input_type()] = method->full_name();
      }
    }
  }
  return methods;
}

bool IsOnThisMachine(const std::string& peer) {
  for (const char* local :
       {"unix:", "unix-abstract:", "ipv4:127.", "ipv6:[::1]:", "ipv6:%5B::1%5D:"}) {
    if (absl::StartsWith(peer, local)) return true;
  }
  return false;
}

bool IsEncrypted(const grpc::AuthContext& context) {
  for (const grpc::string_ref& type :
       context.FindPropertyValues(GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME)) {
    if (type == GRPC_SSL_TRANSPORT_SECURITY_TYPE || type == GRPC_TLS_TRANSPORT_SECURITY_TYPE) {
      return true;
    }
  }
  return false;
}

std::string KindOfPeer(bool local, bool encrypted) {
  return absl::StrCat(local ? "a peer on this machine" : "a peer on another machine",
                      encrypted ? " over TLS" : "");
}

}  // namespace

std::string_view MethodTaking(const Descriptor& request) {
  static const auto& methods = *new std::map<const Descriptor*, std::string>(MethodsByRequest());
  const auto method = methods.find(&request);
  // Without a method there is no role, and without a role nobody is admitted.
  return method == methods.end() ? std::string_view() : method->second;
}

bool Admission::HasInProcessPass(const grpc::ServerContextBase& context) const {
  const auto pass = context.client_metadata().find(kInProcessPassMetadata);
  return pass != context.client_metadata().end() && !in_process_pass_.empty() &&
         pass->second.size() == in_process_pass_.size() &&
         CRYPTO_memcmp(pass->second.data(), in_process_pass_.data(), in_process_pass_.size()) == 0;
}

access::Credentials Admission::CredentialsOf(const grpc::ServerContextBase& context) const {
  access::Credentials credentials;
  const auto [first, last] = context.client_metadata().equal_range("authorization");
  for (auto it = first; it != last; ++it) {
    const std::string value(it->second.data(), it->second.size());
    // Two of them are none that is valid.
    credentials.authorization =
        credentials.authorization ? *credentials.authorization + "," + value : value;
  }
  // Who is let in as anybody is not looked at.
  credentials.kind_of_peer = "a peer";
  if (!credentials.authorization && !verifies_certificates_ && !control_.IsOn()) return credentials;
  if (HasInProcessPass(context)) {
    credentials.confidential = true;
    credentials.kind_of_peer = "a peer over HTTP";
    return credentials;
  }
  const std::shared_ptr<const grpc::AuthContext> security = context.auth_context();
  const bool local = IsOnThisMachine(context.peer());
  const bool encrypted = security != nullptr && IsEncrypted(*security);
  credentials.confidential = local || encrypted;
  credentials.kind_of_peer = KindOfPeer(local, encrypted);
  if (verifies_certificates_ && encrypted) {
    const std::vector<grpc::string_ref> pem =
        security->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
    if (pem.size() == 1) credentials.certificate_pem.assign(pem[0].data(), pem[0].size());
  }
  return credentials;
}

absl::StatusOr<access::Caller> Admission::Admit(const grpc::ServerContextBase& context,
                                                std::string_view method) const {
  return control_.Admit(CredentialsOf(context), method);
}

absl::StatusOr<access::Caller> Admission::AdmitAnyRole(const grpc::ServerContextBase& context,
                                                       std::string_view method) const {
  return control_.AdmitAnyRole(CredentialsOf(context), method);
}

}  // namespace epsledger::transport
