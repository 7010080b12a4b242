#include "server/transport/grpc/certificate_files.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpc/grpc.h"

namespace epsledger::transport {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(grpc_server_credentials* credentials) const {
    grpc_server_credentials_release(credentials);
  }
};

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read or is empty, want a PEM file"));
  }
  return text.str();
}

std::unique_ptr<BIO, Free> Reader(const std::string& pem) {
  return std::unique_ptr<BIO, Free>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

std::unique_ptr<X509, Free> FirstCertificate(const std::string& pem) {
  return std::unique_ptr<X509, Free>(
      PEM_read_bio_X509(Reader(pem).get(), nullptr, nullptr, nullptr));
}

absl::Status CheckFit(const TlsFiles& files, const TlsMaterial& material) {
  const auto certificate = FirstCertificate(material.certificate);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.certificate, ": holds no certificate in PEM"));
  }
  const std::unique_ptr<EVP_PKEY, Free> key(
      PEM_read_bio_PrivateKey(Reader(material.key).get(), nullptr, nullptr, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(files.key, ": holds no private key in PEM"));
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.key, ": is not the key of ", files.certificate));
  }
  if (!files.client_ca.empty() && FirstCertificate(material.client_ca) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.client_ca, ": holds no certificate in PEM"));
  }
  return absl::OkStatus();
}

// Changes whenever a file is written or another takes its name.
std::string VersionOf(const TlsFiles& files) {
  std::string version;
  for (const std::string* path : {&files.certificate, &files.key, &files.client_ca}) {
    struct stat found {};
    if (path->empty() || stat(path->c_str(), &found) != 0) {
      absl::StrAppend(&version, "-;");
      continue;
    }
    absl::StrAppend(&version, found.st_dev, " ", found.st_ino, " ", found.st_size, " ",
                    found.st_mtim.tv_sec, " ", found.st_mtim.tv_nsec, ";");
  }
  return version;
}

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

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  TlsMaterial material;
  for (const auto& [path, text] :
       {std::pair(&files.certificate, &material.certificate), std::pair(&files.key, &material.key),
        std::pair(&files.client_ca, &material.client_ca)}) {
    if (path == &files.client_ca && path->empty()) continue;
    absl::StatusOr<std::string> pem = ReadPem(*path);
    if (!pem.ok()) return pem.status();
    *text = *std::move(pem);
  }
  absl::Status status = CheckFit(files, material);
  if (!status.ok()) return status;
  return material;
}

absl::StatusOr<std::unique_ptr<CertificateFiles>> CertificateFiles::Open(const TlsFiles& files) {
  absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files);
  if (!material.ok()) return material.status();
  return std::unique_ptr<CertificateFiles>(new CertificateFiles(files, *std::move(material)));
}

CertificateFiles::CertificateFiles(const TlsFiles& files, TlsMaterial material)
    : files_(files), material_(std::move(material)) {}

std::shared_ptr<grpc::ServerCredentials> CertificateFiles::Credentials() {
  return std::make_shared<FetchedCredentials>(grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(
          files_.client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                   : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
          &CertificateFiles::Fetch, this)));
}

bool CertificateFiles::Reload() {
  // Before reading: what changes while it is read is read again at the next handshake.
  std::string version = VersionOf(files_);
  if (version == version_) return false;
  version_ = std::move(version);
  absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files_);
  if (!material.ok()) return false;
  material_ = *std::move(material);
  return true;
}

grpc_ssl_certificate_config_reload_status CertificateFiles::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  auto* files = static_cast<CertificateFiles*>(self);
  const bool changed = files->Reload();
  if (!changed && files->fetched_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  files->fetched_ = true;
  const TlsMaterial& material = files->material_;
  const grpc_ssl_pem_key_cert_pair pair = {material.key.c_str(), material.certificate.c_str()};
  // gRPC aborts without authorities also where it asks no client for a certificate and so verifies
  // none: any certificate does.
  const std::string& authorities =
      files->files_.client_ca.empty() ? material.certificate : material.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace epsledger::transport
