#include "server/transport/wire/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <array>
#include <utility>

namespace epsledger::transport::wire {

std::unique_ptr<TlsSession> TlsSession::Make(std::shared_ptr<ServerTls> context) {
  SSL* session = SSL_new(context->get());
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  if (session == nullptr || in == nullptr || out == nullptr) {
    SSL_free(session);
    BIO_free(in);
    BIO_free(out);
    return nullptr;
  }
  SSL_set_bio(session, in, out);
  SSL_set_accept_state(session);
  return std::unique_ptr<TlsSession>(new TlsSession(std::move(context), session));
}

bool TlsSession::Handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result != 1) return SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ;
  const unsigned char* protocol = nullptr;
  unsigned int protocol_bytes = 0;
  SSL_get0_alpn_selected(session_.get(), &protocol, &protocol_bytes);
  established_ = protocol_bytes == 2;  // other protocols were refused, or none was asked for
  return established_;
}

bool TlsSession::Receive(std::string_view bytes, std::string* text) {
  BIO* in = SSL_get_rbio(session_.get());
  if (!bytes.empty() && BIO_write(in, bytes.data(), static_cast<int>(bytes.size())) !=
                            static_cast<int>(bytes.size())) {
    return false;
  }
  if (!established_ && !Handshake()) return false;
  if (!established_) return true;
  std::array<char, 16 << 10> buffer;
  while (true) {
    ERR_clear_error();
    const int count = SSL_read(session_.get(), buffer.data(), buffer.size());
    if (count <= 0) return SSL_get_error(session_.get(), count) == SSL_ERROR_WANT_READ;
    text->append(buffer.data(), static_cast<size_t>(count));
  }
}

bool TlsSession::Send(std::string_view text) {
  ERR_clear_error();
  return text.empty() || SSL_write(session_.get(), text.data(), static_cast<int>(text.size())) ==
                             static_cast<int>(text.size());
}

std::string TlsSession::TakeBytes() {
  BIO* out = SSL_get_wbio(session_.get());
  std::string bytes(BIO_ctrl_pending(out), '\0');
  if (!bytes.empty()) BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

std::string TlsSession::PeerCertificatePem() const { return ClientCertificatePem(session_.get()); }

}  // namespace epsledger::transport::wire
