#ifndef EPSLEDGER_CLIENT_ALERTS_JSON_FIELDS_H_
#define EPSLEDGER_CLIENT_ALERTS_JSON_FIELDS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace epsledger::alerts {

// The fields of one object of the configuration. Each function reads a field if it is there. The
// first error is kept, with the path of its field: "rules[0].on: got ..., want ...".
class JsonFields {
 public:
  // REQUIRES: `value` and `status` outlive this.
  JsonFields(const nlohmann::json& value, std::string path, absl::Status* status);

  bool Has(const std::string& key) const;
  std::string PathOf(const std::string& key) const;
  // Keeps an error about a field.
  void Fail(const std::string& key, const std::string& got_and_want);

  void Text(const std::string& key, std::string* text);
  void RequiredText(const std::string& key, std::string* text);
  void Flag(const std::string& key, bool* flag);
  void Texts(const std::string& key, std::vector<std::string>* texts);
  void TextMap(const std::string& key, std::map<std::string, std::string>* texts);
  void Numbers(const std::string& key, std::vector<double>* numbers);
  void Count(const std::string& key, int64_t most, int64_t* count);
  // "500ms", "30s", "24h"; more than 0.
  void Duration(const std::string& key, absl::Duration* duration);
  // An object or a list; nullptr if the field is not there.
  const nlohmann::json* Object(const std::string& key);
  const nlohmann::json* List(const std::string& key);

  // Keeps an error if the object has a field that nobody asked for.
  void End();

 private:
  const nlohmann::json* Find(const std::string& key);

  const nlohmann::json& value_;
  const std::string path_;
  absl::Status* const status_;
  std::set<std::string> asked_;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_JSON_FIELDS_H_
