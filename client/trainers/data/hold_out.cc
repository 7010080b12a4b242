#include "client/trainers/data/hold_out.h"

#include <string>
#include <string_view>

#include "client/trainers/data/content_hash.h"

namespace epsledger::trainers {

Split SplitRecords(const ParsedRecords& records, bool is_known) {
  static_assert(kHoldOutEvery == 4, "of a hexadecimal digit that is uniform, four values");
  constexpr std::string_view kHeldOutDigits = "0123";
  Split split;
  for (int row = 0; row < records.labels.size(); ++row) {
    const bool held_out =
        is_known ? row % kHoldOutEvery == 0
                 : kHeldOutDigits.find(BytesSha256(CanonicalLine(records, row)).front()) !=
                       kHeldOutDigits.npos;
    (held_out ? split.held_out : split.train).push_back(row);
  }
  return split;
}

}  // namespace epsledger::trainers
