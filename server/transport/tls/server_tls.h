#ifndef EPSLEDGER_SERVER_TRANSPORT_TLS_SERVER_TLS_H_
#define EPSLEDGER_SERVER_TRANSPORT_TLS_SERVER_TLS_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "server/transport/tls/tls_files.h"

namespace epsledger::transport {

// The shared part of the TLS sessions of a listener: its certificate, its trusted CA and its
// protocol. TLS 1.2 with forward secrecy and authenticated encryption, or TLS 1.3; no renegotiation
// and no session resumption. With a client CA, clients must show a certificate that it signed.
class ServerTls {
 public:
  enum class Protocol { kHttp1, kHttp2 };  // HTTP/2 must be agreed on by ALPN

  // Returns nullptr if OpenSSL does not accept the material, which ReadTlsFiles has accepted.
  static std::shared_ptr<ServerTls> Make(const TlsMaterial& material, Protocol protocol);

  SSL_CTX* get() const { return context_.get(); }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  explicit ServerTls(SSL_CTX* context) : context_(context) {}

  const std::unique_ptr<SSL_CTX, Free> context_;
};

// Returns the client's verified certificate; empty if it showed none. REQUIRES: the handshake is
// over.
std::string ClientCertificatePem(const SSL* session);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_TLS_SERVER_TLS_H_
