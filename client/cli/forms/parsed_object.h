#ifndef EPSLEDGER_CLIENT_CLI_FORMS_PARSED_OBJECT_H_
#define EPSLEDGER_CLIENT_CLI_FORMS_PARSED_OBJECT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace epsledger::cli {

// Returns the JSON object of `text`, whose texts are valid UTF-8 and whose numbers are finite.
// Never throws. INVALID_ARGUMENT for anything else, a key given twice included; for a lone
// surrogate or a number that no double can hold it names the key whose value it is.
absl::StatusOr<nlohmann::json> ParsedObject(std::string_view text);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FORMS_PARSED_OBJECT_H_
