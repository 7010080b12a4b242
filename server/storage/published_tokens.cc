#include "server/storage/published_tokens.h"

#include <utility>

namespace epsledger::storage {

void PublishedTokens::Publish(const Replica& replica) {
  const bool is_published = Get() != nullptr;
  if (is_published && replica.IsQuarantined(core::kAccessRootId)) return;
  const core::LedgerHead& head = replica.access().head();
  if (is_published && head == head_) return;
  head_ = head;
  auto tokens = std::make_shared<const core::TokenTable>(replica.access().tokens());
  absl::MutexLock lock(&mutex_);
  tokens_ = std::move(tokens);
}

std::shared_ptr<const core::TokenTable> PublishedTokens::Get() const {
  absl::MutexLock lock(&mutex_);
  return tokens_;
}

}  // namespace epsledger::storage
