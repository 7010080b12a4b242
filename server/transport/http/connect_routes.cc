#include "server/transport/http/connect_routes.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/message.h"
#include "proto/bridge/json_message.h"
#include "server/transport/http/http_caller.h"
#include "server/transport/http/json_answer.h"

namespace epsledger::transport {
namespace {

// The server itself holds a call for at most 60 seconds.
constexpr absl::Duration kMaxTimeout = absl::Seconds(60);
// "connect-timeout-ms" has at most ten digits.
constexpr size_t kMaxTimeoutDigits = 10;
constexpr std::string_view kPrefix = "/epsledger.v1.";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool IsJson(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(View(type)), "application/json");
}

std::optional<absl::Duration> TimeoutOf(const HttpRequest& request) {
  const std::string_view header = request.Header("connect-timeout-ms");
  if (header.empty()) return kMaxTimeout;
  int64_t milliseconds = 0;
  if (header.size() > kMaxTimeoutDigits || !absl::SimpleAtoi(View(header), &milliseconds) ||
      milliseconds < 0) {
    return std::nullopt;
  }
  return std::min(kMaxTimeout, absl::Milliseconds(milliseconds));
}

}  // namespace

bool IsConnectPath(std::string_view path) { return absl::StartsWith(View(path), View(kPrefix)); }

void AnswerConnect(RpcGateway& gateway, const HttpRequest& request, HttpReply reply) {
  std::string name = request.path.substr(1);
  std::replace(name.begin(), name.end(), '/', '.');
  const google::protobuf::MethodDescriptor* method =
      std::count(request.path.begin(), request.path.end(), '/') == 2
          ? RpcGateway::FindUnaryMethod(name)
          : nullptr;
  if (method == nullptr) {
    return std::move(reply)(HttpError(
        404, "unimplemented", absl::StrCat("there is no unary method ", View(request.path))));
  }
  if (request.method != "POST") {
    HttpResponse response = HttpError(405, "unimplemented", "an RPC is called by POST");
    response.headers.emplace_back("allow", "POST");
    return std::move(reply)(std::move(response));
  }
  if (!IsJson(request.Header("content-type"))) {
    HttpResponse response = HttpError(
        415, "invalid_argument",
        absl::StrCat("content-type: got \"", View(request.Header("content-type").substr(0, 64)),
                     "\", want application/json"));
    response.headers.emplace_back("accept-post", "application/json");
    return std::move(reply)(std::move(response));
  }
  const std::optional<absl::Duration> timeout = TimeoutOf(request);
  if (!timeout.has_value()) {
    return std::move(reply)(HttpError(400, "invalid_argument",
                                      "connect-timeout-ms: want an integer of up to ten digits"));
  }
  const absl::StatusOr<HttpCaller> caller = CallerOf(request);
  if (!caller.ok()) {
    return std::move(reply)(
        HttpError(403, "permission_denied", std::string(caller.status().message())));
  }
  const std::unique_ptr<google::protobuf::Message> message = RpcGateway::NewRequest(*method);
  const absl::Status parsed = bridge::ReadJsonObject(request.body, message.get());
  if (!parsed.ok()) {
    return std::move(reply)(
        HttpError(400, "invalid_argument",
                  absl::StrCat("the body is not the JSON of ", method->input_type()->full_name(),
                               ": ", std::string(parsed.message()).substr(0, 256))));
  }
  gateway.Call(
      *method, *message, *caller, *timeout,
      [reply = std::move(reply)](const grpc::Status& status,
                                 std::unique_ptr<google::protobuf::Message> answer) mutable {
        std::move(reply)(status.ok() ? JsonAnswer(*answer) : ErrorAnswer(status));
      });
}

}  // namespace epsledger::transport
