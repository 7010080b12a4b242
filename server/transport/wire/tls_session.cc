#include "server/transport/wire/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <utility>

namespace epsledger::transport::wire {
namespace {

// Of TLS 1.2: forward secrecy and authenticated encryption. TLS 1.3 has nothing else.
constexpr char kCiphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr unsigned char kHttp2[] = {2, 'h', '2'};

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
using Certificate = std::unique_ptr<X509, FreeCertificate>;
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

Bio Open(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// The certificate with those that lead to its authority.
bool UseCertificates(SSL_CTX* context, const std::string& pem) {
  const Bio bio = Open(pem);
  const Certificate own(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return false;
  while (Certificate next{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1) return false;
    (void)next.release();  // the context's now
  }
  ERR_clear_error();  // the end of the file
  return true;
}

bool UseKey(SSL_CTX* context, const std::string& pem) {
  const Bio bio = Open(pem);
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  return key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1 &&
         SSL_CTX_check_private_key(context) == 1;
}

// Clients must show a certificate that one of these has signed.
bool WantCertificates(SSL_CTX* context, const std::string& authorities_pem) {
  const Bio bio = Open(authorities_pem);
  int count = 0;
  while (const Certificate authority{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return false;
    }
    ++count;
  }
  ERR_clear_error();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return count > 0;
}

int ChooseHttp2(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                const unsigned char* offered, unsigned int offered_bytes, void*) {
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_bytes, kHttp2, sizeof kHttp2, offered, offered_bytes) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

std::shared_ptr<TlsContext> TlsContext::Make(const TlsMaterial& material) {
  std::shared_ptr<TlsContext> context(new TlsContext(SSL_CTX_new(TLS_server_method())));
  SSL_CTX* raw = context->get();
  if (raw == nullptr || SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(raw, kCiphers) != 1 || !UseCertificates(raw, material.certificate) ||
      !UseKey(raw, material.key)) {
    return nullptr;
  }
  if (!material.client_ca.empty() && !WantCertificates(raw, material.client_ca)) return nullptr;
  // A session that is taken up again would bring a certificate that nobody verifies again.
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(raw, ChooseHttp2, nullptr);
  return context;
}

std::unique_ptr<TlsSession> TlsSession::Make(std::shared_ptr<TlsContext> context) {
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
  established_ = protocol_bytes == 2;  // what is not HTTP/2 was refused, or was not asked for
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

std::string TlsSession::PeerCertificatePem() const {
  const Certificate certificate(SSL_get1_peer_certificate(session_.get()));
  if (certificate == nullptr) return "";
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate.get()) != 1) return "";
  std::string pem(BIO_ctrl_pending(bio.get()), '\0');
  BIO_read(bio.get(), pem.data(), static_cast<int>(pem.size()));
  return pem;
}

}  // namespace epsledger::transport::wire
