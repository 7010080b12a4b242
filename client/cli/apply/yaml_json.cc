#include "client/cli/apply/yaml_json.h"

#include <cstddef>
#include <set>
#include <sstream>
#include <string_view>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {
namespace {

constexpr size_t kMaxYamlBytes = 1 << 20;
constexpr int kMaxYamlDepth = 64;

absl::Status AtLine(int line, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

bool IsPlain(const YAML::Node& node) { return node.Tag() != "!"; }

// A quoted null is a text.
bool IsUnset(const YAML::Node& node) {
  if (!node.IsScalar()) return !node.IsDefined() || node.IsNull();
  return IsPlain(node) && (node.Scalar().empty() || node.Scalar() == "null");
}

absl::Status AppendText(const YAML::Node& scalar, std::string* json) {
  try {
    json->append(nlohmann::json(scalar.Scalar()).dump());
  } catch (const nlohmann::json::exception&) {
    return AtLine(LineOf(scalar), "got bytes that are not UTF-8");
  }
  return absl::OkStatus();
}

absl::Status AppendNode(const YAML::Node& node, int depth, std::string* json);

absl::Status AppendMap(const YAML::Node& map, int depth, std::string* json) {
  std::set<std::string> keys;
  std::string_view before = "{";
  for (const auto& member : map) {
    if (!member.first.IsScalar()) return AtLine(LineOf(map), "got a key that is not a text");
    const std::string& key = member.first.Scalar();
    if (!keys.insert(key).second) {
      return AtLine(LineOf(member.first),
                    absl::StrCat("got \"", bridge::Printable(key), "\" twice, want it once"));
    }
    json->append(before);
    before = ",";
    RETURN_IF_ERROR(AppendText(member.first, json));
    json->append(":");
    if (IsUnset(member.second)) {
      json->append("null");
    } else {
      RETURN_IF_ERROR(AppendNode(member.second, depth + 1, json));
    }
  }
  json->append(before == "{" ? "{}" : "}");
  return absl::OkStatus();
}

absl::Status AppendList(const YAML::Node& list, int depth, std::string* json) {
  std::string_view before = "[";
  for (const auto& element : list) {
    if (IsUnset(element)) return AtLine(LineOf(list), "got an empty element in a list");
    json->append(before);
    before = ",";
    RETURN_IF_ERROR(AppendNode(element, depth + 1, json));
  }
  json->append(before == "[" ? "[]" : "]");
  return absl::OkStatus();
}

absl::Status AppendNode(const YAML::Node& node, int depth, std::string* json) {
  if (depth > kMaxYamlDepth) {
    return AtLine(LineOf(node), absl::StrCat("want at most ", kMaxYamlDepth, " levels"));
  }
  if (json->size() > kMaxYamlBytes) {
    return AtLine(LineOf(node), "the aliases grow beyond 1 MiB");
  }
  if (node.IsMap()) return AppendMap(node, depth, json);
  if (node.IsSequence()) return AppendList(node, depth, json);
  return AppendText(node, json);
}

// Returns the list under `key`, or the document if it is a list.
absl::StatusOr<YAML::Node> ListIn(const YAML::Node& document, const std::string& key) {
  if (document.IsSequence()) return document;
  const std::string wanted =
      absl::StrCat("want a list, or \"", key, ":\" with a list under it and nothing else");
  if (!document.IsMap()) return AtLine(1, wanted);
  YAML::Node list;
  bool is_found = false;
  for (const auto& member : document) {
    const bool is_it = member.first.IsScalar() && member.first.Scalar() == key;
    if (!is_it || is_found) return AtLine(LineOf(member.first), wanted);
    is_found = true;
    list.reset(member.second);
  }
  if (!is_found || !list.IsSequence()) return AtLine(LineOf(document), wanted);
  return list;
}

class IgnoredDocument final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::LoadAll is not asked: in ",a:\n-b &c" and some other texts it finds documents without end.
absl::StatusOr<YAML::Node> OnlyDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  IgnoredDocument ignored;
  if (!parser.HandleNextDocument(ignored)) {
    return absl::InvalidArgumentError("got no document, want one");
  }
  if (parser.HandleNextDocument(ignored)) {
    return absl::InvalidArgumentError("got several documents, want one");
  }
  return YAML::Load(text);
}

absl::StatusOr<std::vector<YamlElement>> ElementsOf(const YAML::Node& document,
                                                    const std::string& key) {
  ASSIGN_OR_RETURN(const YAML::Node list, ListIn(document, key));
  std::vector<YamlElement> elements;
  size_t bytes = 0;
  for (const auto& node : list) {
    if (!node.IsMap()) return AtLine(LineOf(node), "got no object, want \"name: value\" lines");
    YamlElement element{.line = LineOf(node), .json = ""};
    RETURN_IF_ERROR(AppendNode(node, 0, &element.json));
    bytes += element.json.size();
    if (bytes > kMaxYamlBytes) return AtLine(element.line, "the aliases grow beyond 1 MiB");
    elements.push_back(std::move(element));
  }
  return elements;
}

}  // namespace

absl::StatusOr<std::vector<YamlElement>> ReadYamlList(const std::string& text,
                                                      const std::string& key) {
  if (text.size() > kMaxYamlBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", text.size(), " bytes, want at most ", kMaxYamlBytes));
  }
  try {
    ASSIGN_OR_RETURN(const YAML::Node document, OnlyDocument(text));
    return ElementsOf(document, key);
  } catch (const YAML::Exception& error) {
    return AtLine(error.mark.line + 1, bridge::Printable(error.msg));
  }
}

}  // namespace epsledger::cli
