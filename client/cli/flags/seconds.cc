#include "client/cli/flags/seconds.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "epsledger/rounded_number.h"

namespace epsledger::cli {

CLI::Validator SecondsOrDuration() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double seconds = 0;
        if (absl::SimpleAtod(text, &seconds)) return "";
        absl::Duration duration;
        if (!absl::ParseDuration(text, &duration)) {
          return absl::StrCat("got \"", text, "\", want seconds, or a duration as 500ms, 3s or 2m");
        }
        text = ExactNumber(absl::ToDoubleSeconds(duration));
        return "";
      },
      "");
}

}  // namespace epsledger::cli
