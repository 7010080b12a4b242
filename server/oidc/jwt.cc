#include "server/oidc/jwt.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::oidc {
namespace {

using nlohmann::json;

absl::Status Refused(const std::string& why) { return absl::UnauthenticatedError(why); }

bool IsBase64Url(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
}

// Returns the object in one part of the token; nullopt if it is not an object.
std::optional<json> ObjectIn(absl::string_view part) {
  std::string text;
  if (!absl::WebSafeBase64Unescape(part, &text)) return std::nullopt;
  if (!json_syntax::CheckObject(text, nullptr).ok()) return std::nullopt;
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  return object;
}

// Returns a text of the header; nullopt if it is missing or not a text.
std::optional<std::string> HeaderText(const json& header, const char* name) {
  const auto found = header.find(name);
  if (found == header.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// Reads seconds since 1970, possibly with a fraction. nullopt if the claim is not such a number.
std::optional<absl::Time> TimeOf(const json& claims, const char* name) {
  const auto found = claims.find(name);
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  const double seconds = found->get<double>();
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e11) return std::nullopt;
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

bool IsFor(const json& claims, const std::string& audience) {
  const auto found = claims.find("aud");
  if (found == claims.end()) return false;
  if (found->is_string()) return found->get_ref<const std::string&>() == audience;
  return found->is_array() && std::any_of(found->begin(), found->end(), [&](const json& element) {
           return element.is_string() && element.get_ref<const std::string&>() == audience;
         });
}

std::string Shown(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<Jwt> ParseJwt(std::string_view compact) {
  if (compact.size() > kMaxJwtBytes) {
    return Refused(absl::StrCat("it has ", compact.size(), " bytes, want at most ", kMaxJwtBytes));
  }
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(compact.data(), compact.size()), '.');
  if (parts.size() != 3 || !std::all_of(parts.begin(), parts.end(), IsBase64Url)) {
    return Refused("it is no signed JSON web token: want three parts of base64url");
  }
  const std::optional<json> header = ObjectIn(parts[0]);
  std::optional<json> claims = ObjectIn(parts[1]);
  if (!header || !claims) return Refused("its header or its claims are no JSON object");
  const std::optional<std::string> algorithm = HeaderText(*header, "alg");
  const std::optional<std::string> kid = HeaderText(*header, "kid");
  if (!algorithm || !kid) return Refused("its header names no algorithm (alg) and key (kid)");
  if (header->contains("crit"))
    return Refused("its header asks for what this server does not know");
  if (header->contains("typ")) {
    const std::string type = absl::AsciiStrToLower(HeaderText(*header, "typ").value_or(""));
    if (type != "jwt" && type != "at+jwt" && type != "application/at+jwt") {
      return Refused("its header says that it is no JSON web token (typ)");
    }
  }
  return Jwt{.algorithm = *algorithm, .kid = *kid, .claims = *std::move(claims)};
}

absl::Status CheckClaims(const json& claims, const std::string& issuer, const std::string& audience,
                         absl::Time now) {
  const auto iss = claims.find("iss");
  if (iss == claims.end() || !iss->is_string() || iss->get_ref<const std::string&>() != issuer) {
    return Refused(absl::StrCat("its claim iss is not \"", issuer, "\""));
  }
  if (!IsFor(claims, audience)) {
    return Refused(absl::StrCat("its claim aud does not hold \"", audience, "\""));
  }
  const std::optional<absl::Time> end = TimeOf(claims, "exp");
  if (!end) return Refused("its claim exp is no time: a token without an end is not taken");
  if (now >= *end + kClockSkew) return Refused("it has expired at " + Shown(*end));
  if (*end > now + kMaxJwtLife + kClockSkew) {
    return Refused(absl::StrCat("its claim exp is ", Shown(*end),
                                ", want at most a day from now: nobody could revoke it"));
  }
  for (const char* name : {"nbf", "iat"}) {
    if (!claims.contains(name)) continue;
    const std::optional<absl::Time> begin = TimeOf(claims, name);
    if (!begin) return Refused(absl::StrCat("its claim ", name, " is no time"));
    if (now < *begin - kClockSkew) {
      return Refused(absl::StrCat("its claim ", name, " is ", Shown(*begin), ", which is ahead"));
    }
  }
  return absl::OkStatus();
}

absl::Time EndOf(const json& claims) { return *TimeOf(claims, "exp") + kClockSkew; }

}  // namespace epsledger::oidc
