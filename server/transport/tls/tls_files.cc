#include "server/transport/tls/tls_files.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::transport {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
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

// The result changes whenever a file is written or replaced by another one.
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

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  TlsMaterial material;
  for (const auto& [path, text] :
       {std::pair(&files.certificate, &material.certificate), std::pair(&files.key, &material.key),
        std::pair(&files.client_ca, &material.client_ca)}) {
    if (path == &files.client_ca && path->empty()) continue;
    ASSIGN_OR_RETURN(std::string pem, ReadPem(*path));
    *text = std::move(pem);
  }
  RETURN_IF_ERROR(CheckFit(files, material));
  return material;
}

absl::StatusOr<RenewedTlsFiles> RenewedTlsFiles::Open(const TlsFiles& files, OnReload on_reload) {
  std::string version = VersionOf(files);  // before reading, as in Reload
  ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsFiles(files));
  return RenewedTlsFiles(files, std::move(on_reload), std::move(version), std::move(material));
}

RenewedTlsFiles::RenewedTlsFiles(TlsFiles files, OnReload on_reload, std::string version,
                                 TlsMaterial material)
    : files_(std::move(files)),
      on_reload_(std::move(on_reload)),
      material_(std::move(material)),
      version_(std::move(version)) {}

bool RenewedTlsFiles::Reload() {
  // Before reading, so that a change during the reading is noticed the next time.
  std::string version = VersionOf(files_);
  if (version == version_) return false;
  version_ = std::move(version);
  absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files_);
  on_reload_(material.status());
  if (!material.ok()) return false;
  material_ = *std::move(material);
  return true;
}

}  // namespace epsledger::transport
