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

namespace epsledger::transport {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;

// The words of kInProcessPeerMetadata.
constexpr char kLocal[] = "this-machine";
constexpr char kRemote[] = "another-machine";
constexpr char kTls[] = "+tls";
constexpr char kHttp[] = "+http";

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

wire::CallOrigin Admission::OriginOf(const grpc::ServerContextBase& context) const {
  const auto& metadata = context.client_metadata();
  wire::CallOrigin origin;
  const auto [first, last] = metadata.equal_range("authorization");
  for (auto it = first; it != last; ++it) {
    const std::string value(it->second.data(), it->second.size());
    // Two of them are none that is valid.
    origin.authorization = origin.authorization ? *origin.authorization + "," + value : value;
  }
  if (!HasInProcessPass(context)) return origin;
  const auto said = metadata.find(kInProcessPeerMetadata);
  if (said == metadata.end()) return origin;
  const absl::string_view words(said->second.data(), said->second.size());
  auto peer = std::make_shared<wire::Peer>(
      wire::Peer{.is_over_http = absl::StrContains(words, kHttp),
                 .is_on_this_machine = absl::StrContains(words, kLocal),
                 .is_encrypted = absl::StrContains(words, kTls)});
  const auto certificate = metadata.find(kInProcessCertificateMetadata);
  if (certificate != metadata.end()) {
    peer->certificate_pem.assign(certificate->second.data(), certificate->second.size());
  }
  origin.peer = std::move(peer);
  return origin;
}

std::vector<std::pair<std::string, std::string>> Admission::Introduce(
    const wire::Peer& peer) const {
  std::vector<std::pair<std::string, std::string>> metadata = {
      {kInProcessPassMetadata, in_process_pass_},
      {kInProcessPeerMetadata,
       absl::StrCat(peer.is_on_this_machine ? kLocal : kRemote, peer.is_encrypted ? kTls : "")}};
  if (verifies_certificates_ && !peer.certificate_pem.empty()) {
    metadata.emplace_back(kInProcessCertificateMetadata, peer.certificate_pem);
  }
  return metadata;
}

access::Credentials Admission::CredentialsOf(const wire::CallOrigin& origin) const {
  access::Credentials credentials{
      .authorization = origin.authorization, .certificate_pem = "", .kind_of_peer = "a peer"};
  // Who is let in as anybody is not looked at.
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

absl::StatusOr<access::Caller> Admission::Admit(const grpc::ServerContextBase& context,
                                                std::string_view method) const {
  return control_.Admit(CredentialsOf(OriginOf(context)), method);
}

absl::StatusOr<access::Caller> Admission::Admit(const wire::CallOrigin& origin,
                                                std::string_view method) const {
  return control_.Admit(CredentialsOf(origin), method);
}

}  // namespace epsledger::transport
