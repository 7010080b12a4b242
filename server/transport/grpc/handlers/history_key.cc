#include "server/transport/grpc/handlers/history_key.h"

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "server/core/codec.h"

namespace epsledger::transport {

std::string BeginHistoryKey(accounting::NeighboringRelation relation,
                            std::initializer_list<double> asked) {
  std::string key = absl::StrCat(static_cast<int>(relation));
  for (const double number : asked) {
    absl::StrAppend(&key, " ", absl::Hex(absl::bit_cast<uint64_t>(number)));
  }
  return key;
}

void AddToHistoryKey(std::string_view event, int64_t count, std::string* key) {
  absl::StrAppend(key, " ", count, ":", event.size(), ":");
  key->append(event);
}

std::string HistoryKey(accounting::NeighboringRelation relation,
                       const std::vector<accounting::CountedEvent>& history,
                       std::initializer_list<double> asked) {
  std::string key = BeginHistoryKey(relation, asked);
  for (const accounting::CountedEvent& counted : history) {
    AddToHistoryKey(core::EncodeEvent(*counted.event), counted.count, &key);
  }
  return key;
}

}  // namespace epsledger::transport
