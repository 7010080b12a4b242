#ifndef EPSLEDGER_SERVER_TRANSPORT_TLS_SERVER_TLS_H_
#define EPSLEDGER_SERVER_TRANSPORT_TLS_SERVER_TLS_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "server/transport/tls/tls_files.h"

namespace epsledger::transport {

// What the TLS sessions of a listener share: its certificate, whom it trusts, what is spoken.
// TLS 1.2 with forward secrecy and authenticated encryption, or TLS 1.3; no renegotiation, no
// session that is taken up again. With a client CA, clients must show a certificate that it signed.
class ServerTls {
 public:
  enum class Protocol { kHttp1, kHttp2 };  // HTTP/2 must be agreed on by ALPN

  // nullptr if OpenSSL does not take the material, which ReadTlsFiles has found good.
  static std::shared_ptr<ServerTls> Make(const TlsMaterial& material, Protocol protocol);

  SSL_CTX* get() const { return context_.get(); }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  explicit ServerTls(SSL_CTX* context) : context_(context) {}

  const std::unique_ptr<SSL_CTX, Free> context_;
};

// The certificate that the client has shown and that was verified; empty if there is none.
// REQUIRES: the handshake is over.
std::string ClientCertificatePem(const SSL* session);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_TLS_SERVER_TLS_H_
