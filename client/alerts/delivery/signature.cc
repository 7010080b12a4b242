#include "client/alerts/delivery/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace epsledger::alerts {

std::string Signature(std::string_view secret, int64_t unix_seconds, std::string_view body) {
  std::string text = absl::StrCat(unix_seconds, ".");
  text.append(body);
  unsigned char code[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), code, &size);
  return absl::StrCat(
      "t=", unix_seconds,
      ",v1=", absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(code), size)));
}

}  // namespace epsledger::alerts
