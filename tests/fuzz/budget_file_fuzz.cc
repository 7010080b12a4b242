// Files of `epsctl apply`: no crash, no alias that grows without end, and budgets that are read are
// read again from their own JSON.

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "client/cli/apply/budget_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto budgets =
      epsledger::cli::ReadBudgets(std::string(reinterpret_cast<const char*>(data), size));
  if (!budgets.ok()) return 0;
  std::string json = "[";
  for (const epsledger::v1::Budget& budget : *budgets) {
    if (json.size() > 1) json += ",";
    if (!google::protobuf::util::MessageToJsonString(budget, &json).ok()) std::abort();
  }
  const auto again = epsledger::cli::ReadBudgets(json + "]");
  // What is escaped in JSON may make it longer than a file may be.
  if (!again.ok()) {
    if (json.size() < 100'000) std::abort();
    return 0;
  }
  if (again->size() != budgets->size()) std::abort();
  for (size_t i = 0; i < budgets->size(); ++i) {
    if (!google::protobuf::util::MessageDifferencer::Equals((*budgets)[i], (*again)[i])) {
      std::abort();
    }
  }
  return 0;
}
