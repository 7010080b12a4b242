#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_TLS_SESSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_TLS_SESSION_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/transport/tls/tls_files.h"

namespace epsledger::transport::wire {

// What a server's TLS sessions share: its certificate, whom it trusts, and that HTTP/2 is spoken.
class TlsContext {
 public:
  // nullptr if OpenSSL takes the material not, which ReadTlsFiles has found good.
  static std::shared_ptr<TlsContext> Make(const TlsMaterial& material);

  SSL_CTX* get() const { return context_.get(); }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  explicit TlsContext(SSL_CTX* context) : context_(context) {}

  const std::unique_ptr<SSL_CTX, Free> context_;
};

// The server's side of one TLS session, between bytes in memory. Not thread-safe.
class TlsSession {
 public:
  // nullptr if there is no memory.
  static std::unique_ptr<TlsSession> Make(std::shared_ptr<TlsContext> context);

  // Takes bytes of the network and appends what they say to `text`. False if the session is over:
  // by an error or by the peer's word. REQUIRES: no more than 64 KiB at once.
  bool Receive(std::string_view bytes, std::string* text);
  // Appends the text, encrypted, to what TakeBytes returns. False on an error. REQUIRES:
  // IsEstablished().
  bool Send(std::string_view text);
  // What is for the network: of the handshake, of Send.
  std::string TakeBytes();

  // The handshake is over, HTTP/2 is agreed on and the certificate, if one is wanted, verified.
  bool IsEstablished() const { return established_; }
  // The peer's certificate, empty if there is none.
  std::string PeerCertificatePem() const;

 private:
  struct Free {
    void operator()(SSL* session) const { SSL_free(session); }
  };
  TlsSession(std::shared_ptr<TlsContext> context, SSL* session)
      : context_(std::move(context)), session_(session) {}
  bool Handshake();

  const std::shared_ptr<TlsContext> context_;
  const std::unique_ptr<SSL, Free> session_;
  bool established_ = false;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_TLS_SESSION_H_
