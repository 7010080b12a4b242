#include "client/cli/forms/parsed_object.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/printable.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::cli {
namespace {

using nlohmann::json;

constexpr size_t kMaxTokenBytes = 40;

// Finds what keeps a JSON object from being read that json_syntax::CheckObject accepts: a surrogate
// without its other half, or a number beyond the range of a double.
class UnreadableValue : public json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool key(std::string& key) override {
    last_key_ = key;
    return true;
  }
  bool parse_error(size_t, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const bool is_text = token.starts_with('"');
    const bool is_key = std::string_view(error.what()).find("object key") != std::string_view::npos;
    message_ = absl::StrCat(
        is_key ? "a key" : bridge::Printable(last_key_), ": got ",
        is_text ? "a text with half of a surrogate pair" : token.substr(0, kMaxTokenBytes),
        is_text ? ", want characters of Unicode" : ", want a number that a double can hold");
    return false;
  }

  const std::string& message() const { return message_; }

 private:
  std::string last_key_;
  std::string message_;
};

}  // namespace

absl::StatusOr<json> ParsedObject(std::string_view text) {
  RETURN_IF_ERROR(json_syntax::CheckObject(text, nullptr));
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_object()) return object;
  UnreadableValue unreadable;
  json::sax_parse(text, &unreadable);
  return absl::InvalidArgumentError(unreadable.message());
}

}  // namespace epsledger::cli
