#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CERTIFICATE_FILES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CERTIFICATE_FILES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpc/grpc_security.h"
#include "grpcpp/security/server_credentials.h"

namespace epsledger::transport {

// Paths of PEM files. Without a client CA clients are not asked for certificates; with it they must
// show one that it signed.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

// The contents, read and found to fit together.
struct TlsMaterial {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

// The contents of the files. NOT_FOUND for one that cannot be read or is empty, INVALID_ARGUMENT if
// one is not PEM of its kind or the key is not the certificate's.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// The TLS files of one address, read anew at the handshake after one of them changed: certificates
// are renewed without a restart. What cannot be read or does not fit together (a renewal that is
// half done, for example) is left alone, and the last good material stays in use.
//
// gRPC's own file watcher polls, and takes what it reads without looking at it.
class CertificateFiles {
 public:
  // Reads them for the first time; errors as ReadTlsFiles.
  static absl::StatusOr<std::unique_ptr<CertificateFiles>> Open(const TlsFiles& files);

  CertificateFiles(const CertificateFiles&) = delete;
  CertificateFiles& operator=(const CertificateFiles&) = delete;

  // For one address of a server. REQUIRES: this outlives that server.
  std::shared_ptr<grpc::ServerCredentials> Credentials();

 private:
  CertificateFiles(const TlsFiles& files, TlsMaterial material);

  // What gRPC asks at every handshake, one at a time.
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);
  // True if there is new material that is good.
  bool Reload();

  const TlsFiles files_;
  TlsMaterial material_;
  std::string version_;  // of the files as last looked at
  bool fetched_ = false;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CERTIFICATE_FILES_H_
