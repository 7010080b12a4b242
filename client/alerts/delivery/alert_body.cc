#include "client/alerts/delivery/alert_body.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace epsledger::alerts {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kEncodedLine = 76;  // RFC 2045, 6.8
// RFC 2047: an encoded word has at most 75 characters, 12 of which frame it: 63 of base64.
constexpr size_t kWordBytes = 45;
constexpr size_t kMostTitleBytes = 200;

bool IsPlain(char c) { return c >= ' ' && c <= '~'; }

// Control characters become spaces.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    const auto code = static_cast<unsigned char>(c);
    if (code < ' ' || code == 0x7f) c = ' ';
  }
  return line;
}

// A header's text. Characters beyond ASCII are encoded, never cut in the middle.
std::string HeaderText(std::string_view text) {
  const std::string line = OneLine(text).substr(0, kMostTitleBytes);
  if (std::all_of(line.begin(), line.end(), IsPlain) && line.find("=?") == line.npos) return line;
  std::vector<std::string> words;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = std::min(begin + kWordBytes, line.size());
    // UTF-8: a byte 10xxxxxx continues a character.
    while (end < line.size() && end > begin + 1 && (line[end] & '\xc0') == '\x80') --end;
    words.push_back(
        absl::StrCat("=?utf-8?B?", absl::Base64Escape(line.substr(begin, end - begin)), "?="));
    begin = end;
  }
  return absl::StrJoin(words, "\r\n ");
}

std::string EncodedLines(std::string_view text) {
  const std::string encoded = absl::Base64Escape(absl::string_view(text.data(), text.size()));
  std::string lines;
  for (size_t begin = 0; begin < encoded.size(); begin += kEncodedLine) {
    absl::StrAppend(&lines, encoded.substr(begin, kEncodedLine), "\r\n");
  }
  return lines;
}

std::string MailText(const Alert& alert, const std::string& dashboard) {
  std::string text = absl::StrCat(alert.text, "\n\n");
  if (!alert.budget.empty()) absl::StrAppend(&text, "Budget: ", alert.budget, "\n");
  if (!alert.display_name.empty()) {
    absl::StrAppend(&text, "Name: ", OneLine(alert.display_name), "\n");
  }
  for (const auto& [key, value] : alert.labels) {
    absl::StrAppend(&text, "Label ", key, ": ", OneLine(value), "\n");
  }
  for (const auto& [name, value] : alert.facts) {
    absl::StrAppend(&text, name, ": ", OneLine(value), "\n");
  }
  absl::StrAppend(&text, "Time: ", TimeText(alert.time_micros), "\nRule: ", alert.rule,
                  "\nAlert: ", alert.id, "\n");
  const std::string link = LinkOf(alert, dashboard);
  if (!link.empty()) absl::StrAppend(&text, "\n", link, "\n");
  return text;
}

}  // namespace

std::string LinkOf(const Alert& alert, const std::string& dashboard) {
  if (dashboard.empty()) return "";
  const bool has_slash = dashboard.back() == '/';
  return absl::StrCat(dashboard, has_slash ? "" : "/", "#/", alert.page);
}

std::string WebhookBody(const Alert& alert, const std::string& dashboard) {
  Json body;
  body["version"] = 1;
  body["id"] = alert.id;
  body["kind"] = std::string(KindName(alert.kind));
  body["rule"] = alert.rule;
  body["time"] = TimeText(alert.time_micros);
  body["title"] = alert.title;
  body["text"] = alert.text;
  body["budget"] = alert.budget;
  body["displayName"] = alert.display_name;
  body["labels"] = Json::object();
  for (const auto& [key, value] : alert.labels) body["labels"][key] = value;
  body["facts"] = Json::object();
  for (const auto& [name, value] : alert.facts) body["facts"][name] = value;
  body["link"] = LinkOf(alert, dashboard);
  // A byte that is no UTF-8 is replaced: no alert is lost for it.
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string MailMessage(const Alert& alert, const Mail& mail, const std::string& dashboard) {
  const std::string date = absl::FormatTime(
      "%a, %d %b %Y %H:%M:%S +0000", absl::FromUnixMicros(alert.time_micros), absl::UTCTimeZone());
  const std::string domain = mail.from.substr(mail.from.find('@') + 1);
  return absl::StrCat("Date: ", date, "\r\nFrom: ", mail.from,
                      "\r\nTo: ", absl::StrJoin(mail.to, ",\r\n "),
                      "\r\nSubject: ", HeaderText(absl::StrCat("[epsledger] ", alert.title)),
                      "\r\nMessage-ID: <", alert.id, "@", domain,
                      ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0"
                      "\r\nContent-Type: text/plain; charset=utf-8"
                      "\r\nContent-Transfer-Encoding: base64\r\n\r\n",
                      EncodedLines(MailText(alert, dashboard)));
}

}  // namespace epsledger::alerts
