#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_TLS_SESSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_TLS_SESSION_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/transport/tls/server_tls.h"

namespace epsledger::transport::wire {

// The server's side of one TLS session, between bytes in memory. Not thread-safe.
class TlsSession {
 public:
  // nullptr if there is no memory.
  static std::unique_ptr<TlsSession> Make(std::shared_ptr<ServerTls> context);

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
  TlsSession(std::shared_ptr<ServerTls> context, SSL* session)
      : context_(std::move(context)), session_(session) {}
  bool Handshake();

  const std::shared_ptr<ServerTls> context_;
  const std::unique_ptr<SSL, Free> session_;
  bool established_ = false;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_TLS_SESSION_H_
