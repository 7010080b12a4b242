#include "server/core/sha256.h"

#include <openssl/evp.h>

#include <cstdlib>
#include <memory>

namespace epsledger::core {

Hash Sha256(std::initializer_list<std::string_view> parts) {
  struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  // OpenSSL takes longer to find the algorithm, as SHA256() does every time, than to hash an entry.
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  Hash hash;
  bool good = EVP_DigestInit_ex2(context.get(), sha256, nullptr) == 1;
  for (const std::string_view part : parts) {
    good = good && EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
  }
  if (!good || EVP_DigestFinal_ex(context.get(), hash.data(), nullptr) != 1) std::abort();
  return hash;
}

}  // namespace epsledger::core
