#ifndef EPSLEDGER_SERVER_TRANSPORT_TLS_TLS_FILES_H_
#define EPSLEDGER_SERVER_TRANSPORT_TLS_TLS_FILES_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

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

// The TLS files of one address, read anew after one of them changed: certificates are renewed
// without a restart. What cannot be read or does not fit together (a renewal that is half done, for
// example) is left alone, and the last good material stays in use. Not thread-safe.
class RenewedTlsFiles {
 public:
  // Called once for every change that was seen: OK, or why the files were left alone.
  using OnReload = std::function<void(const absl::Status&)>;

  // Reads them for the first time; errors as ReadTlsFiles.
  static absl::StatusOr<RenewedTlsFiles> Open(const TlsFiles& files, OnReload on_reload);

  // Looks whether the files changed; true if there is new material that is good.
  bool Reload();

  const TlsFiles& files() const { return files_; }
  const TlsMaterial& material() const { return material_; }

 private:
  RenewedTlsFiles(TlsFiles files, OnReload on_reload, std::string version, TlsMaterial material);

  TlsFiles files_;
  OnReload on_reload_;
  TlsMaterial material_;
  std::string version_;  // of the files as last looked at
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_TLS_TLS_FILES_H_
