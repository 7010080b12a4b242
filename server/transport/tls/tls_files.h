#ifndef EPSLEDGER_SERVER_TRANSPORT_TLS_TLS_FILES_H_
#define EPSLEDGER_SERVER_TRANSPORT_TLS_TLS_FILES_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::transport {

// Paths of PEM files. Without a client CA, clients are not asked for certificates. With one, they
// must show a certificate that it signed.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

// The contents of the files, which fit together.
struct TlsMaterial {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

// Returns the contents of the files. NOT_FOUND for a file that cannot be read or is empty,
// INVALID_ARGUMENT if a file is not PEM of its kind or the key does not belong to the certificate.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// The TLS files of one address, read again after one of them changed, so that certificates are
// renewed without a restart. If the files cannot be read or do not fit together (for example during
// a renewal), the last good material stays in use. Not thread-safe.
class RenewedTlsFiles {
 public:
  // Called once for every change: OK, or why the files were ignored.
  using OnReload = std::function<void(const absl::Status&)>;

  // Reads the files for the first time. Errors are those of ReadTlsFiles.
  static absl::StatusOr<RenewedTlsFiles> Open(const TlsFiles& files, OnReload on_reload);

  // Checks whether the files changed. Returns true if there is new, good material.
  bool Reload();

  const TlsFiles& files() const { return files_; }
  const TlsMaterial& material() const { return material_; }

 private:
  RenewedTlsFiles(TlsFiles files, OnReload on_reload, std::string version, TlsMaterial material);

  TlsFiles files_;
  OnReload on_reload_;
  TlsMaterial material_;
  std::string version_;  // of the files at the last check
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_TLS_TLS_FILES_H_
