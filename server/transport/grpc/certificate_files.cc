#include "server/transport/grpc/certificate_files.h"

#include <string>
#include <utility>

#include "grpc/grpc.h"

namespace epsledger::transport {
namespace {

struct Free {
  void operator()(grpc_server_credentials* credentials) const {
    grpc_server_credentials_release(credentials);
  }
};

// gRPC's C++ interface has no credentials that are asked at every handshake; its C interface does.
class FetchedCredentials final : public grpc::ServerCredentials {
 public:
  explicit FetchedCredentials(grpc_server_credentials* credentials) : credentials_(credentials) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_.get());
  }

  const std::unique_ptr<grpc_server_credentials, Free> credentials_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateFiles>> CertificateFiles::Open(
    const TlsFiles& files, RenewedTlsFiles::OnReload on_reload) {
  absl::StatusOr<RenewedTlsFiles> opened = RenewedTlsFiles::Open(files, std::move(on_reload));
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<CertificateFiles>(new CertificateFiles(*std::move(opened)));
}

std::shared_ptr<grpc::ServerCredentials> CertificateFiles::Credentials() {
  return std::make_shared<FetchedCredentials>(grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(
          files_.files().client_ca.empty()
              ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
              : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
          &CertificateFiles::Fetch, this)));
}

grpc_ssl_certificate_config_reload_status CertificateFiles::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  auto* files = static_cast<CertificateFiles*>(self);
  const bool changed = files->files_.Reload();
  if (!changed && files->fetched_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  files->fetched_ = true;
  const TlsMaterial& material = files->files_.material();
  const grpc_ssl_pem_key_cert_pair pair = {material.key.c_str(), material.certificate.c_str()};
  // gRPC aborts without authorities also where it asks no client for a certificate and so verifies
  // none: any certificate does.
  const std::string& authorities =
      files->files_.files().client_ca.empty() ? material.certificate : material.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace epsledger::transport
