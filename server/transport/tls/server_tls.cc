#include "server/transport/tls/server_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace epsledger::transport {
namespace {

// For TLS 1.2: forward secrecy and authenticated encryption. TLS 1.3 has nothing else.
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

// Loads the certificate and the chain to its authority.
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

// Requires clients to show a certificate that one of these has signed.
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

std::shared_ptr<ServerTls> ServerTls::Make(const TlsMaterial& material, Protocol protocol) {
  std::shared_ptr<ServerTls> context(new ServerTls(SSL_CTX_new(TLS_server_method())));
  SSL_CTX* raw = context->get();
  if (raw == nullptr || SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(raw, kCiphers) != 1 || !UseCertificates(raw, material.certificate) ||
      !UseKey(raw, material.key)) {
    return nullptr;
  }
  if (!material.client_ca.empty() && !WantCertificates(raw, material.client_ca)) return nullptr;
  // A resumed session would bring a certificate that is not verified again.
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  if (protocol == Protocol::kHttp2) SSL_CTX_set_alpn_select_cb(raw, ChooseHttp2, nullptr);
  return context;
}

std::string ClientCertificatePem(const SSL* session) {
  const Certificate certificate(SSL_get1_peer_certificate(session));
  if (certificate == nullptr) return "";
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate.get()) != 1) return "";
  std::string pem(BIO_ctrl_pending(bio.get()), '\0');
  BIO_read(bio.get(), pem.data(), static_cast<int>(pem.size()));
  return pem;
}

}  // namespace epsledger::transport
