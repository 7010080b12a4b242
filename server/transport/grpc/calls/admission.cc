#include "server/transport/grpc/calls/admission.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/transport/grpc/ledger_services.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Descriptor;

// Returns the method that takes each type of request. A method with a stream of requests uses the
// same message as the one without.
std::map<const Descriptor*, std::string> MethodsByRequest() {
  std::map<const Descriptor*, std::string> methods;
  for (const google::protobuf::MethodDescriptor* method : LedgerMethods()) {
    if (!method->client_streaming()) methods[method->input_type()] = method->full_name();
  }
  return methods;
}

std::string KindOfPeer(bool local, bool encrypted) {
  return absl::StrCat(local ? "a peer on this machine" : "a peer on another machine",
                      encrypted ? " over TLS" : "");
}

}  // namespace

std::string_view MethodTaking(const Descriptor& request) {
  static const auto& methods = *new std::map<const Descriptor*, std::string>(MethodsByRequest());
  const auto method = methods.find(&request);
  // An empty name has no rule, so nobody is admitted.
  return method == methods.end() ? std::string_view() : method->second;
}

access::Credentials Admission::CredentialsOf(const wire::CallOrigin& origin) const {
  access::Credentials credentials{
      .authorization = origin.authorization, .certificate_pem = "", .kind_of_peer = "a peer"};
  // If everybody is admitted, the caller's data is not needed.
  if (!credentials.authorization && !verifies_certificates_ && !control_.IsOn()) return credentials;
  if (origin.peer == nullptr) return credentials;
  const wire::Peer& peer = *origin.peer;
  credentials.confidential = peer.is_on_this_machine || peer.is_encrypted;
  credentials.kind_of_peer = peer.is_over_http
                                 ? "a peer over HTTP"
                                 : KindOfPeer(peer.is_on_this_machine, peer.is_encrypted);
  if (verifies_certificates_ && peer.is_encrypted) {
    credentials.certificate_pem = peer.certificate_pem;
  }
  return credentials;
}

absl::StatusOr<access::Caller> Admission::Admit(const wire::CallOrigin& origin,
                                                std::string_view method,
                                                access::Caller* denied) const {
  absl::StatusOr<access::Caller> caller = control_.Admit(CredentialsOf(origin), method, denied);
  if (!caller.ok()) return caller;
  const bool is_over_http = origin.peer != nullptr && origin.peer->is_over_http;
  caller->door = is_over_http ? core::Door::kHttp : core::Door::kGrpc;
  caller->client = origin.client;
  return caller;
}

}  // namespace epsledger::transport
