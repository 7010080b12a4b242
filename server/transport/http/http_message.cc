#include "server/transport/http/http_message.h"

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace epsledger::transport {

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

HttpResponse HttpError(int status, std::string_view code, std::string_view message) {
  nlohmann::ordered_json body;
  body["code"] = code;
  body["message"] = message;
  return {.status = status,
          .content_type = "application/json",
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

std::optional<std::string> PercentDecoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      uint32_t code = 0;
      if (i + 2 >= text.size() || !absl::ascii_isxdigit(text[i + 1]) ||
          !absl::ascii_isxdigit(text[i + 2]) ||
          !absl::SimpleHexAtoi(absl::string_view(text.data() + i + 1, 2), &code)) {
        return std::nullopt;
      }
      c = static_cast<char>(code);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    decoded.push_back(c);
  }
  return decoded;
}

std::optional<std::string> DecodedPath(std::string_view text) {
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    const std::optional<std::string> written = PercentDecoded(text.substr(at, 3));
    if (!written || written->size() != 1) return std::nullopt;
    const char c = (*written)[0];
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
        std::string_view("-._~/%").find(c) != std::string_view::npos) {
      return std::nullopt;
    }
  }
  return PercentDecoded(text);
}

std::optional<std::vector<std::pair<std::string, std::string>>> QueryParameters(
    std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(query.data(), query.size()), '&', absl::SkipEmpty())) {
    const std::vector<std::string> halves = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const std::optional<std::string> name = PercentDecoded(halves[0], true);
    const std::optional<std::string> value =
        PercentDecoded(halves.size() == 2 ? halves[1] : "", true);
    if (!name || name->empty() || !value) return std::nullopt;
    parameters.emplace_back(*name, *value);
  }
  return parameters;
}

}  // namespace epsledger::transport
