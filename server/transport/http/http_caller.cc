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
#include "epsledger/v1/access_service.pb.h"
#include "google/protobuf/empty.pb.h"
#include "proto/json_syntax/json_syntax.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "server/transport/http/host_check.h"
#include "server/transport/http/json_answer.h"
#include "server/transport/wire/call_headers.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Message;

// The prefix prevents other hosts of the domain from setting the cookie. A browser accepts it only
// over TLS (RFC 6265bis, section 4.1.3.2).
constexpr char kCookieOverTls[] = "__Host-epsledger_token";
constexpr char kCookie[] = "epsledger_token";
// A working day and a half: a person who returns later logs in again.
constexpr char kCookieAge[] = "; Max-Age=43200";
// A token is 60 bytes or so.
constexpr size_t kMaxTokenBytes = 256;
constexpr absl::Duration kLogInPatience = absl::Seconds(10);

// Returns true for text that is safe in a cookie and in a header; tokens contain nothing else.
bool IsTokenText(std::string_view text) {
  if (text.empty() || text.size() > kMaxTokenBytes) return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') return false;
  }
  return true;
}

// Returns true for text that gRPC accepts as the value of metadata (PROTOCOL-HTTP2, ASCII-Value).
bool IsMetadataText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

const char* CookieName(bool tls) { return tls ? kCookieOverTls : kCookie; }

std::string CookieOf(const HttpRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name != "cookie") continue;
    for (const absl::string_view part : absl::StrSplit(value, ';')) {
      const std::pair<std::string, std::string> cookie =
          absl::StrSplit(absl::StripAsciiWhitespace(part), absl::MaxSplits('=', 1));
      if (cookie.first == CookieName(request.tls)) return cookie.second;
    }
  }
  return "";
}

std::string SetCookie(bool tls, std::string_view value, std::string_view more) {
  // A browser would not send a Secure cookie over plaintext, which only this machine uses.
  return absl::StrCat(CookieName(tls), "=", absl::string_view(value.data(), value.size()),
                      "; Path=/; HttpOnly; SameSite=Strict", tls ? "; Secure" : "",
                      absl::string_view(more.data(), more.size()));
}

// Calls then(status, answer); `answer` is empty if the status is an error.
template <class Request, class Then>
void Call(RpcGateway& gateway, const char* method, const HttpCaller& caller, Then then) {
  gateway.Call(*RpcGateway::FindUnaryMethod(method), Request(), caller, kLogInPatience,
               [then = std::move(then)](const grpc::Status& status,
                                        std::unique_ptr<Message> answer) mutable {
                 static const google::protobuf::Empty none;
                 if (status.ok()) {
                   then(status, *answer);
                 } else {
                   then(status, none);
                 }
               });
}

// Answers with the caller who logged in, and sets the cookie.
void AnswerCaller(RpcGateway& gateway, const HttpCaller& caller, std::string cookie,
                  HttpReply reply) {
  Call<v1::GetCallerRequest>(gateway, "epsledger.v1.AccessService.GetCaller", caller,
                             [cookie = std::move(cookie), reply = std::move(reply)](
                                 const grpc::Status& status, const Message& known) mutable {
                               if (!status.ok()) return std::move(reply)(ErrorAnswer(status));
                               HttpResponse response = JsonAnswer(known);
                               response.headers.emplace_back("set-cookie", std::move(cookie));
                               std::move(reply)(std::move(response));
                             });
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
    // Two headers together are not a valid one, as over gRPC.
    absl::StrAppend(&caller.authorization, values++ == 0 ? "" : ",", value);
  }
  // gRPC ends the process if metadata has other bytes, and logs them, even a secret. Here they are
  // refused and counted like any text without a token.
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
  const auto body = json_syntax::CheckObject(request.body, nullptr).ok()
                        ? nlohmann::json::parse(request.body, nullptr, false)
                        : nlohmann::json();
  const auto token = body.is_object() ? body.find("token") : body.end();
  if (!body.is_object() || token == body.end() || !token->is_string() ||
      !IsTokenText(token->get_ref<const std::string&>())) {
    return std::move(reply)(
        HttpError(400, "invalid_argument", "want {\"token\": \"epsl_...\"}, a token's secret"));
  }
  const std::string secret = token->get<std::string>();
  const HttpCaller caller{.authorization = absl::StrCat("Bearer ", secret),
                          .tls = request.tls,
                          .confidential = request.confidential,
                          .client_certificate_pem = "",
                          .peer = request.peer,
                          .client = wire::ShownClient(request.Header("user-agent")),
                          .request_id = request.request_id,
                          .traceparent = request.traceparent};
  Call<v1::CreateLoginRequest>(
      gateway, "epsledger.v1.AccessService.CreateLogin", caller,
      [&gateway, caller, secret, reply = std::move(reply)](const grpc::Status& status,
                                                           const Message& made) mutable {
        const bool read_only = ReasonOf(status) == "LEDGER_READ_ONLY";
        if (!status.ok() && !read_only) return std::move(reply)(ErrorAnswer(status));
        std::string kept =
            read_only ? "" : static_cast<const v1::CreateTokenResponse&>(made).secret();
        if (kept.empty()) kept = secret;
        AnswerCaller(gateway, caller, SetCookie(caller.tls, kept, kCookieAge), std::move(reply));
      });
}

void LogOut(RpcGateway& gateway, const HttpRequest& request, HttpReply reply) {
  HttpResponse response;
  response.content_type = "application/json";
  response.body = "{}";
  response.headers.emplace_back("set-cookie", SetCookie(request.tls, "", "; Max-Age=0"));
  const absl::StatusOr<HttpCaller> caller = CallerOf(request);
  if (!caller.ok() || caller->authorization.empty()) return std::move(reply)(std::move(response));
  // The answer is the same whether a login existed or not: the browser has none any more.
  Call<v1::EndLoginRequest>(
      gateway, "epsledger.v1.AccessService.EndLogin", *caller,
      [response = std::move(response), reply = std::move(reply)](
          const grpc::Status&, const Message&) mutable { std::move(reply)(std::move(response)); });
}

}  // namespace epsledger::transport
