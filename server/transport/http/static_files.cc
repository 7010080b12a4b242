#include "server/transport/http/static_files.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "openssl/sha.h"
#include "zlib.h"

namespace epsledger::transport {
namespace {

// The page may load content from this server, must not run inline scripts and cannot be framed.
// Scripts may set the style of elements; inline styles in pages are not allowed.
constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'";

absl::string_view ViewOf(std::string_view text) { return {text.data(), text.size()}; }

std::string ContentType(std::string_view path) {
  const std::pair<const char*, const char*> types[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".webmanifest", "application/manifest+json"}};
  for (const auto& [ending, type] : types) {
    if (absl::EndsWith(ViewOf(path), ending)) return type;
  }
  return "application/octet-stream";
}

std::string EntityTag(std::string_view content) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(content.data()), content.size(), digest);
  const absl::string_view half(reinterpret_cast<const char*>(digest), sizeof(digest) / 2);
  return absl::StrCat("\"", absl::BytesToHexString(half), "\"");
}

// RFC 9110 section 12.5.3: "gzip", not refused by ";q=0".
bool TakesGzip(const HttpRequest& request) {
  for (const absl::string_view part :
       absl::StrSplit(ViewOf(request.Header("accept-encoding")), ',')) {
    const std::pair<absl::string_view, absl::string_view> coding =
        absl::StrSplit(part, absl::MaxSplits(';', 1));
    if (absl::StripAsciiWhitespace(coding.first) != "gzip") continue;
    const absl::string_view weight = absl::StripAsciiWhitespace(coding.second);
    return weight != "q=0" && weight != "q=0.0" && weight != "q=0.00" && weight != "q=0.000";
  }
  return false;
}

// RFC 9110 section 13.1.2.
bool Knows(const HttpRequest& request, const std::string& entity_tag) {
  for (absl::string_view part : absl::StrSplit(ViewOf(request.Header("if-none-match")), ',')) {
    part = absl::StripAsciiWhitespace(part);
    absl::ConsumePrefix(&part, "W/");
    if (part == "*" || part == entity_tag) return true;
  }
  return false;
}

// Returns nullopt if the content is not gzip.
std::optional<std::string> Unpacked(std::string_view compressed) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;  // zlib: 16 more for a gzip header
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string content;
  char piece[16384];
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof(piece);
    result = inflate(&stream, Z_NO_FLUSH);
    content.append(piece, sizeof(piece) - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return content;
}

}  // namespace

StaticFiles::StaticFiles(const std::vector<StaticFile>& files) {
  for (const StaticFile& file : files) {
    files_.emplace(absl::StrCat("/", ViewOf(file.path)),
                   Served{.compressed = file.content,
                          .content_type = ContentType(file.path),
                          .entity_tag = EntityTag(file.content),
                          .kept = absl::StartsWith(ViewOf(file.path), "assets/")});
  }
}

bool StaticFiles::Has(std::string_view path) const {
  return files_.find(path == "/" ? "/index.html" : path) != files_.end();
}

HttpResponse StaticFiles::Answer(const HttpRequest& request) const {
  if (request.method != "GET") {
    HttpResponse response = HttpError(405, "unimplemented", "only GET is answered here");
    response.headers.emplace_back("allow", "GET, HEAD");
    return response;
  }
  const Served& file =
      files_.find(request.path == "/" ? std::string_view("/index.html") : request.path)->second;
  HttpResponse response;
  response.content_type = file.content_type;
  response.headers = {
      {"etag", file.entity_tag},
      {"cache-control", file.kept ? "public, max-age=31536000, immutable" : "no-cache"},
      {"vary", "accept-encoding"},
      {"content-security-policy", kContentSecurityPolicy},
      {"referrer-policy", "no-referrer"},
      {"cross-origin-opener-policy", "same-origin"},
      {"cross-origin-resource-policy", "same-origin"}};
  if (Knows(request, file.entity_tag)) {
    response.status = 304;
    return response;
  }
  if (TakesGzip(request)) {
    response.headers.emplace_back("content-encoding", "gzip");
    response.body = std::string(file.compressed);
    return response;
  }
  std::optional<std::string> content = Unpacked(file.compressed);
  if (!content.has_value()) return HttpError(500, "internal", "a file of this program is damaged");
  response.body = *std::move(content);
  return response;
}

}  // namespace epsledger::transport
