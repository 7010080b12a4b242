#include "client/cli/verify/ledger_export.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cli/verify/merkle_proof.h"

namespace epsledger::cli {

LedgerExport::LedgerExport(std::ostream& out, const std::string& root_budget)
    : out_(out), hash_(32, '\0') {
  out_ << R"({"epsledgerExport":1,"rootBudget":")" << root_budget << "\"}\n";
}

absl::Status LedgerExport::Add(const v1::AuditEntry& entry) {
  if (entry.sequence() != entry_count_ + 1 || entry.previous_hash() != hash_ || !IsValid(entry)) {
    return absl::DataLossError(absl::StrCat("entry ", entry_count_ + 1,
                                            " does not follow from the one before: the ledger, or "
                                            "the connection to it, is damaged"));
  }
  out_ << R"({"sequence":)" << entry.sequence() << R"(,"hash":")"
       << absl::BytesToHexString(entry.hash()) << R"(","content":")"
       << absl::BytesToHexString(entry.content()) << "\"}\n";
  std::string root = LeafHash(entry.content());
  for (int64_t bits = entry_count_; bits % 2 == 1; bits /= 2) {
    root = MerkleNode(subtrees_.back(), root);
    subtrees_.pop_back();
  }
  subtrees_.push_back(root);
  ++entry_count_;
  hash_ = entry.hash();
  return absl::OkStatus();
}

std::string LedgerExport::MerkleRoot() const {
  if (subtrees_.empty()) return Sha256("");
  std::string root = subtrees_.back();
  for (size_t i = subtrees_.size() - 1; i > 0; --i) root = MerkleNode(subtrees_[i - 1], root);
  return root;
}

absl::Status LedgerExport::Finish() {
  out_ << R"({"entryCount":)" << entry_count_ << R"(,"hash":")" << absl::BytesToHexString(hash_)
       << R"(","merkleRoot":")" << absl::BytesToHexString(MerkleRoot()) << "\"}\n";
  out_.flush();
  if (!out_) return absl::UnavailableError("the export cannot be written: is the disk full?");
  return absl::OkStatus();
}

}  // namespace epsledger::cli
