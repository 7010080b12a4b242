#include "server/transport/http/http_caller.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/transport/http/host_check.h"
#include "server/transport/http/json_answer.h"
#include "server/transport/wire/call_headers.h"

namespace epsledger::transport {
namespace {

// The prefix keeps other hosts of the domain from setting it; a browser takes it over TLS alone
// (RFC 6265bis, section 4.1.3.2).
constexpr char kCookieOverTls[] = "__Host-epsledger_token";
constexpr char kCookie[] = "epsledger_token";
// A working day and a half: who comes back later logs in again.
constexpr char kCookieAge[] = "; Max-Age=43200";
// A token is 60 bytes or so.
constexpr size_t kMaxTokenBytes = 256;
constexpr absl::Duration kLogInPatience = absl::Seconds(10);

// What can stand in a cookie and in a header; tokens hold nothing else.
bool IsTokenText(std::string_view text) {
  if (text.empty() || text.size() > kMaxTokenBytes) return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') return false;
  }
  return true;
}

// What gRPC takes as the value of metadata (PROTOCOL-HTTP2, ASCII-Value).
bool IsMetadataText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

const char* CookieName(const HttpRequest& request) {
  return request.tls ? kCookieOverTls : kCookie;
}

std::string CookieOf(const HttpRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name != "cookie") continue;
    for (const absl::string_view part : absl::StrSplit(value, ';')) {
      const std::pair<std::string, std::string> cookie =
          absl::StrSplit(absl::StripAsciiWhitespace(part), absl::MaxSplits('=', 1));
      if (cookie.first == CookieName(request)) return cookie.second;
    }
  }
  return "";
}

std::string SetCookie(const HttpRequest& request, std::string_view value, std::string_view more) {
  // A cookie that is Secure would not come back over plaintext, which only this machine speaks.
  const bool tls = request.tls;
  return absl::StrCat(CookieName(request), "=", absl::string_view(value.data(), value.size()),
                      "; Path=/; HttpOnly; SameSite=Strict", tls ? "; Secure" : "",
                      absl::string_view(more.data(), more.size()));
}

}  // namespace

absl::StatusOr<HttpCaller> CallerOf(const HttpRequest& request) {
  HttpCaller caller;
  caller.tls = request.tls;
  caller.confidential = request.confidential;
  caller.client_certificate_pem = request.client_certificate_pem;
  caller.peer = request.peer;
  caller.request_id = request.request_id;
  caller.traceparent = request.traceparent;
  int values = 0;
  for (const auto& [name, value] : request.headers) {
    if (name == "user-agent") caller.client = wire::ShownClient(value);
    if (name != "authorization") continue;
    // Two of them are none that is valid, as over gRPC.
    absl::StrAppend(&caller.authorization, values++ == 0 ? "" : ",", value);
  }
  // gRPC ends the process at metadata with other bytes, and logs them, a secret included. This is
  // refused and counted as any text that holds no token.
  if (!IsMetadataText(caller.authorization)) caller.authorization = "not ASCII";
  if (!caller.authorization.empty()) return caller;
  const std::string token = CookieOf(request);
  if (token.empty()) return caller;
  if (IsFromAnotherSite(request)) {
    return absl::PermissionDeniedError("the cookie is not taken from another site's request");
  }
  if (IsTokenText(token)) caller.authorization = absl::StrCat("Bearer ", token);
  return caller;
}

void LogIn(RpcGateway& gateway, const HttpRequest& request, HttpReply reply) {
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  const auto token = body.is_object() ? body.find("token") : body.end();
  if (!body.is_object() || token == body.end() || !token->is_string() ||
      !IsTokenText(token->get_ref<const std::string&>())) {
    return std::move(reply)(
        HttpError(400, "invalid_argument", "want {\"token\": \"epsl_...\"}, a token's secret"));
  }
  const google::protobuf::MethodDescriptor* method =
      RpcGateway::FindUnaryMethod("epsledger.v1.AccessService.GetCaller");
  const std::string secret = token->get<std::string>();
  std::string cookie = SetCookie(request, secret, kCookieAge);
  gateway.Call(
      *method, *RpcGateway::NewRequest(*method),
      {.authorization = absl::StrCat("Bearer ", secret),
       .tls = request.tls,
       .confidential = request.confidential,
       .client_certificate_pem = "",
       .peer = request.peer,
       .client = wire::ShownClient(request.Header("user-agent")),
       .request_id = request.request_id,
       .traceparent = request.traceparent},
      kLogInPatience,
      [cookie = std::move(cookie), reply = std::move(reply)](
          const grpc::Status& status, std::unique_ptr<google::protobuf::Message> caller) mutable {
        if (!status.ok()) return std::move(reply)(ErrorAnswer(status));
        HttpResponse response = JsonAnswer(*caller);
        response.headers.emplace_back("set-cookie", std::move(cookie));
        std::move(reply)(std::move(response));
      });
}

void LogOut(const HttpRequest& request, HttpReply reply) {
  HttpResponse response;
  response.content_type = "application/json";
  response.body = "{}";
  response.headers.emplace_back("set-cookie", SetCookie(request, "", "; Max-Age=0"));
  std::move(reply)(std::move(response));
}

}  // namespace epsledger::transport
