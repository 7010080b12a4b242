#ifndef EPSLEDGER_CLIENT_CLI_APPLY_YAML_JSON_H_
#define EPSLEDGER_CLIENT_CLI_APPLY_YAML_JSON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace epsledger::cli {

// One element of a list in a YAML file.
struct YamlElement {
  int line = 0;      // of its beginning; the first line is 1
  std::string json;  // an object whose scalars are all strings, which proto3 JSON reads as any type
};

// Returns the elements of the list under `key`, or of the document itself if that is a list. The
// text is one YAML document of at most 1 MiB; JSON is one too. A scalar is the text that stands
// there, so `no` is "no" and `1e-5` is "1e-5". A plain null, ~ or nothing is null.
//
// INVALID_ARGUMENT names the line: the text is no YAML, has several documents, another key beside
// `key`, a key twice, an element that is no object, a key that is no scalar, more than 64 levels,
// or aliases that grow beyond 1 MiB.
absl::StatusOr<std::vector<YamlElement>> ReadYamlList(const std::string& text,
                                                      const std::string& key);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_APPLY_YAML_JSON_H_
