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
  // Returns nullptr if there is no memory.
  static std::unique_ptr<TlsSession> Make(std::shared_ptr<ServerTls> context);

  // Takes bytes from the network and appends the decrypted text to `text`. Returns false if the
  // session is over, by an error or because the peer closed it. REQUIRES: at most 64 KiB in one
  // call.
  bool Receive(std::string_view bytes, std::string* text);
  // Appends the encrypted text to what TakeBytes returns. Returns false on an error. REQUIRES:
  // IsEstablished().
  bool Send(std::string_view text);
  // Takes the bytes to send to the network, from the handshake and from Send.
  std::string TakeBytes();

  // Returns true once the handshake is over, HTTP/2 is agreed on and the certificate, if required,
  // is verified.
  bool IsEstablished() const { return established_; }
  // Returns the peer's certificate; empty if it has none.
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
