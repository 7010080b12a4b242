#include "server/transport/grpc/health_probe.h"

#include <fstream>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/byte_buffer.h"

namespace epsledger::transport {
namespace {

// health.proto is not packaged with gRPC. An empty HealthCheckRequest has no bytes, and a
// HealthCheckResponse with SERVING is field 1 with the value 1.
constexpr char kServingBytes[] = {0x08, 0x01};

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

absl::Status ProbeHealth(const HealthProbeOptions& options) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (!options.tls_ca_file.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = ReadFile(options.tls_ca_file);
    if (!options.tls_certificate_file.empty()) {
      tls.pem_cert_chain = ReadFile(options.tls_certificate_file);
      tls.pem_private_key = ReadFile(options.tls_key_file);
    }
    credentials = grpc::SslCredentials(tls);
  }
  grpc::GenericStub stub(grpc::CreateChannel(options.address, credentials));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options.timeout));
  context.set_wait_for_ready(false);
  grpc::CompletionQueue queue;
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) {
    return absl::UnavailableError(
        absl::StrCat(options.address, ": cannot be asked: ", status.error_message()));
  }
  if (BytesOf(response) != std::string(kServingBytes, sizeof kServingBytes)) {
    return absl::UnavailableError(absl::StrCat(options.address, ": says that it is not serving"));
  }
  return absl::OkStatus();
}

}  // namespace epsledger::transport
