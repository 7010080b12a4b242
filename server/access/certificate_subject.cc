#include "server/access/certificate_subject.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "server/access/distinct_name.h"
#include "server/access/method_rules.h"
#include "server/core/limits.h"

namespace epsledger::access {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(unsigned char* text) const { OPENSSL_free(text); }
};

// Returns the one entry of that kind, or "" if it is missing; nullopt if there are several or it is
// not text.
std::optional<std::string> OnlyEntry(const X509_NAME* subject, int kind) {
  const int first = X509_NAME_get_index_by_NID(subject, kind, -1);
  if (first < 0) return std::string();
  if (X509_NAME_get_index_by_NID(subject, kind, first) >= 0) return std::nullopt;
  unsigned char* utf8 = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, first)));
  if (size < 0) return std::nullopt;
  const std::unique_ptr<unsigned char, Free> owned(utf8);
  return std::string(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
}

// Returns true for a name that is not of another kind of principal.
bool IsCertificateName(const std::string& name) {
  return name != kAnybody && !absl::StartsWithIgnoreCase(name, "tokens/") &&
         !absl::StartsWithIgnoreCase(name, "oidc/") &&
         static_cast<int64_t>(name.size()) <= core::kMaxDisplayNameBytes && IsDistinctName(name);
}

// Returns infinite past if the time cannot be read: such a certificate has expired.
absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm fields{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &fields) != 1) return absl::InfinitePast();
  return absl::FromTM(fields, absl::UTCTimeZone());
}

}  // namespace

std::optional<CertifiedCaller> CallerOf(std::string_view certificate_pem) {
  const std::unique_ptr<BIO, Free> bio(
      BIO_new_mem_buf(certificate_pem.data(), static_cast<int>(certificate_pem.size())));
  if (bio == nullptr) return std::nullopt;
  const std::unique_ptr<X509, Free> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) return std::nullopt;
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  const std::optional<std::string> tenant = OnlyEntry(subject, NID_organizationName);
  const std::optional<std::string> role_name = OnlyEntry(subject, NID_organizationalUnitName);
  const std::optional<std::string> name = OnlyEntry(subject, NID_commonName);
  if (!tenant || !role_name || !name) return std::nullopt;
  const std::optional<core::Role> role = RoleNamed(*role_name);
  // An authority signs for many purposes: a certificate without a tenant does not belong to the
  // tenant without a name.
  if (!role || tenant->empty() || !IsTenantName(*tenant) || !IsCertificateName(*name)) {
    return std::nullopt;
  }
  return CertifiedCaller{.caller = {.tenant = {*tenant}, .role = *role, .principal = *name},
                         .expire_time = TimeOf(X509_get0_notAfter(certificate.get()))};
}

bool IsTenantName(std::string_view name) {
  if (name.empty()) return true;
  const auto lower_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return static_cast<int64_t>(name.size()) <= core::kMaxIdBytes && lower_or_digit(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return lower_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace epsledger::access
