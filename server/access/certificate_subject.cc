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
#include "accounting/event/printable.h"
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

// Returns true if the UTF-8 text has a character that changes how others look, or none to see:
// combining marks (U+0300 to U+036F, U+1AB0 to U+1AFF, U+1DC0 to U+1DFF, U+20D0 to U+20FF, U+FE20
// to U+FE2F), the soft hyphen, and those without width (U+200B to U+200F, U+2060 to U+2064,
// U+FEFF).
bool HasUnseen(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const auto byte = [&](size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned first = byte(i);
    unsigned code = 0;
    if (first >= 0xc2 && first < 0xe0) {
      code = (first & 0x1f) << 6 | (byte(i + 1) & 0x3f);
    } else if (first >= 0xe0 && first < 0xf0) {
      code = (first & 0x0f) << 12 | (byte(i + 1) & 0x3f) << 6 | (byte(i + 2) & 0x3f);
    }
    constexpr std::pair<unsigned, unsigned> kRanges[] = {
        {0xad, 0xad},     {0x300, 0x36f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
        {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
    for (const auto& [low, high] : kRanges) {
      if (code >= low && code <= high) return true;
    }
  }
  return false;
}

// Returns true for a name that cannot be confused with another one.
bool IsPrincipalName(const std::string& name) {
  return !name.empty() && name != kAnybody && !absl::StartsWithIgnoreCase(name, "tokens/") &&
         !absl::StartsWithIgnoreCase(name, "oidc/") && name.front() != ' ' && name.back() != ' ' &&
         !absl::StrContains(name, "  ") &&
         static_cast<int64_t>(name.size()) <= core::kMaxDisplayNameBytes &&
         accounting::IsPrintable(name) && !HasUnseen(name);
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
  if (!role || tenant->empty() || !IsTenantName(*tenant) || !IsPrincipalName(*name))
    return std::nullopt;
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
