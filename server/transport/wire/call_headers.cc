#include "server/transport/wire/call_headers.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/transport/wire/limits.h"

namespace epsledger::transport::wire {
namespace {

// The bytes that HTTP/2 adds for each header when it counts their size.
constexpr size_t kHeaderOverheadBytes = 32;
constexpr size_t kMaxTimeoutDigits = 8;

bool IsVisibleText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (c >= 0x20 && c <= 0x7e && c != '%') {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned>(static_cast<uint8_t>(c)));
    }
  }
  return encoded;
}

}  // namespace

std::string ShownClient(std::string_view user_agent) {
  const std::string_view shown = user_agent.substr(0, kMaxClientBytes);
  return IsVisibleText(shown) ? std::string(shown) : std::string();
}

std::string ShownRequestId(std::string_view x_request_id) {
  const bool is_one = x_request_id.size() <= kMaxRequestIdBytes && IsVisibleText(x_request_id) &&
                      x_request_id.find(' ') == x_request_id.npos;
  return is_one ? std::string(x_request_id) : std::string();
}

std::string RequestIdOf(const CallOrigin& origin) {
  if (!origin.request_id.empty()) return origin.request_id;
  static const std::string& process =
      *new std::string(absl::StrFormat("%08x", std::random_device()()));
  return absl::StrCat(process, "-", origin.peer == nullptr ? 0 : origin.peer->number, "-",
                      origin.number);
}

std::string ShownTraceparent(std::string_view traceparent) {
  constexpr std::string_view kForm = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
  if (traceparent.size() != kForm.size()) return "";
  for (size_t i = 0; i < kForm.size(); ++i) {
    const char c = traceparent[i];
    const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (kForm[i] == 'x' ? !is_digit : c != kForm[i]) return "";
  }
  // An id of zeros alone is not valid.
  const auto is_zero = [&](size_t at, size_t digits) {
    return traceparent.substr(at, digits).find_first_not_of('0') == traceparent.npos;
  };
  return is_zero(3, 32) || is_zero(36, 16) ? "" : std::string(traceparent);
}

bool CallHeaders::Add(std::string_view name, std::string_view value) {
  bytes_ += name.size() + value.size() + kHeaderOverheadBytes;
  if (bytes_ > kMaxHeaderBytes) return false;
  if (name == ":method") {
    method_ = value;
  } else if (name == ":path") {
    path_ = value;
  } else if (name == "content-type") {
    content_type_ = value;
  } else if (name == "grpc-encoding") {
    encoding_ = value;
  } else if (name == "grpc-timeout") {
    timeout_ = value;
  } else if (name == "user-agent") {
    client_ = ShownClient(value);
  } else if (name == "x-request-id") {
    request_id_ = ShownRequestId(value);
  } else if (name == "traceparent") {
    traceparent_ = ShownTraceparent(value);
  } else if (name == "authorization") {
    // Two headers together are not a valid one.
    authorization_ = authorization_ ? absl::StrCat(*authorization_, ",",
                                                   absl::string_view(value.data(), value.size()))
                                    : std::string(value);
  }
  return true;
}

int CallHeaders::http_status() const {
  if (method_ != "POST") return 405;
  constexpr std::string_view kGrpc = "application/grpc";
  const std::string_view type = content_type_;
  if (type.substr(0, kGrpc.size()) != kGrpc) return 415;
  const std::string_view rest = type.substr(kGrpc.size());
  const bool is_proto =
      rest.empty() || rest[0] == ';' || rest == "+proto" || rest.substr(0, 7) == "+proto;";
  return is_proto ? 200 : 415;
}

grpc::Status CallHeaders::Check() const {
  if (bytes_ > kMaxHeaderBytes) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED,
            absl::StrFormat("metadata: got more than %d bytes, want fewer", kMaxHeaderBytes)};
  }
  if (!encoding_.empty() && encoding_ != "identity") {
    const std::string shown = IsVisibleText(encoding_) ? encoding_.substr(0, 64) : "?";
    return {grpc::StatusCode::UNIMPLEMENTED,
            absl::StrCat("grpc-encoding: got ", shown,
                         ", want identity: messages of this server "
                         "are not compressed")};
  }
  if (!timeout_.empty() && !ReadTimeout(timeout_)) {
    return {grpc::StatusCode::INVALID_ARGUMENT,
            "grpc-timeout: want one to eight digits and a unit of H, M, S, m, u, n"};
  }
  if (authorization_ && !IsVisibleText(*authorization_)) {
    return {grpc::StatusCode::INVALID_ARGUMENT,
            "authorization: got a byte that is no visible ASCII character"};
  }
  return grpc::Status::OK;
}

std::optional<std::chrono::nanoseconds> CallHeaders::timeout() const {
  return ReadTimeout(timeout_);
}

std::optional<std::chrono::nanoseconds> ReadTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kMaxTimeoutDigits + 1) return std::nullopt;
  const std::string_view digits = text.substr(0, text.size() - 1);
  int64_t count = 0;
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) ||
      !absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &count)) {
    return std::nullopt;
  }
  using std::chrono::nanoseconds;
  switch (text.back()) {
    case 'H':
      // Eight digits of hours are more than nanoseconds can count.
      return std::min<std::chrono::seconds>(std::chrono::hours(count),
                                            std::chrono::hours(24 * 365));
    case 'M':
      return std::min<std::chrono::seconds>(std::chrono::minutes(count),
                                            std::chrono::hours(24 * 365));
    case 'S':
      return std::chrono::seconds(count);
    case 'm':
      return std::chrono::milliseconds(count);
    case 'u':
      return std::chrono::microseconds(count);
    case 'n':
      return nanoseconds(count);
    default:
      return std::nullopt;
  }
}

Headers TrailersOf(const grpc::Status& status) {
  Headers trailers;
  trailers.emplace_back("grpc-status", absl::StrCat(static_cast<int>(status.error_code())));
  if (!status.error_message().empty()) {
    trailers.emplace_back("grpc-message", PercentEncoded(status.error_message()));
  }
  if (!status.error_details().empty()) {
    std::string details = absl::Base64Escape(status.error_details());
    details.resize(details.find_last_not_of('=') + 1);  // gRPC sends it without padding
    trailers.emplace_back("grpc-status-details-bin", std::move(details));
  }
  return trailers;
}

}  // namespace epsledger::transport::wire
