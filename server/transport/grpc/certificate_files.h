#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CERTIFICATE_FILES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CERTIFICATE_FILES_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "grpc/grpc_security.h"
#include "grpcpp/security/server_credentials.h"
#include "server/transport/tls/tls_files.h"

namespace epsledger::transport {

// The TLS files of one address of gRPC, looked at at every handshake (RenewedTlsFiles).
//
// gRPC's own file watcher polls, and takes what it reads without looking at it.
class CertificateFiles {
 public:
  // Reads them for the first time; errors as ReadTlsFiles.
  static absl::StatusOr<std::unique_ptr<CertificateFiles>> Open(
      const TlsFiles& files, RenewedTlsFiles::OnReload on_reload);

  CertificateFiles(const CertificateFiles&) = delete;
  CertificateFiles& operator=(const CertificateFiles&) = delete;

  // For one address of a server. REQUIRES: this outlives that server.
  std::shared_ptr<grpc::ServerCredentials> Credentials();

 private:
  explicit CertificateFiles(RenewedTlsFiles files) : files_(std::move(files)) {}

  // What gRPC asks at every handshake, one at a time.
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);

  RenewedTlsFiles files_;
  bool fetched_ = false;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CERTIFICATE_FILES_H_
