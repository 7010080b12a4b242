#ifndef EPSLEDGER_SERVER_CORE_MERKLE_H_
#define EPSLEDGER_SERVER_CORE_MERKLE_H_

// The Merkle tree over the contents of a ledger's entries: RFC 6962, section 2.1, with SHA-256.
// Leaf i is entry i + 1. Anybody who holds the root can detect a change of any entry. A proof of
// log2(size) hashes shows that an entry is in the tree, or that the tree grew from an older one by
// appending.

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/core/entry.h"

namespace epsledger::core {

// SHA-256(0x00 || content).
Hash MerkleLeaf(std::string_view content);
// SHA-256(0x01 || left || right).
Hash MerkleNode(const Hash& left, const Hash& right);

// A tree for appending leaves. It holds only the roots of its complete subtrees: 32 bytes for each
// bit of its size.
class MerkleFrontier {
 public:
  // Cost: one hash on average, log2(size) at most.
  void Append(const Hash& leaf);
  int64_t size() const { return size_; }
  // Returns the root over all leaves. Without leaves: SHA-256 of the empty string.
  Hash Root() const;

 private:
  int64_t size_ = 0;
  std::vector<Hash> roots_;  // of complete subtrees, the largest first
};

// The leaves [begin, end), which form a subtree.
struct LeafRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// Returns the subtrees whose roots are the audit path of leaf `index` in the tree of `size` leaves,
// from the leaf's sibling up (RFC 6962, 2.1.1). REQUIRES: 0 <= index < size.
std::vector<LeafRange> InclusionRanges(int64_t index, int64_t size);

// Returns the subtrees whose roots prove that the tree of `old_size` leaves is a prefix of the tree
// of `new_size` leaves, in the order of RFC 6962, 2.1.2. REQUIRES: 1 <= old_size <= new_size.
std::vector<LeafRange> ConsistencyRanges(int64_t old_size, int64_t new_size);

// Computes the roots of subtrees from all leaves in order, in O(log(size)^2) memory.
// REQUIRES: `ranges` are disjoint.
class MerklePath {
 public:
  explicit MerklePath(std::vector<LeafRange> ranges);
  // Adds the next leaf: 0, 1, 2, ...
  void Append(const Hash& leaf);
  // Returns one root per range, in the order of the ranges. REQUIRES: every leaf of every range was
  // appended.
  std::vector<Hash> Roots() const;

 private:
  std::vector<LeafRange> ranges_;
  std::vector<MerkleFrontier> subtrees_;
  int64_t next_ = 0;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_MERKLE_H_
