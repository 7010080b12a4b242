#include "server/core/merkle.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "server/core/sha256.h"

namespace epsledger::core {
namespace {

// The largest power of two below `size`. REQUIRES: size >= 2.
int64_t LeftSize(int64_t size) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size - 1)));
}

}  // namespace

Hash MerkleLeaf(std::string_view content) { return Sha256({std::string_view("\0", 1), content}); }

Hash MerkleNode(const Hash& left, const Hash& right) {
  return Sha256({std::string_view("\1", 1), BytesOf(left), BytesOf(right)});
}

void MerkleFrontier::Append(const Hash& leaf) {
  Hash root = leaf;
  // Each trailing 1 bit of the size is a complete subtree as large as `root`.
  for (int64_t bits = size_; (bits & 1) != 0; bits >>= 1) {
    root = MerkleNode(roots_.back(), root);
    roots_.pop_back();
  }
  roots_.push_back(root);
  ++size_;
}

Hash MerkleFrontier::Root() const {
  if (roots_.empty()) return Sha256({});
  Hash root = roots_.back();
  for (size_t i = roots_.size() - 1; i > 0; --i) root = MerkleNode(roots_[i - 1], root);
  return root;
}

std::vector<LeafRange> InclusionRanges(int64_t index, int64_t size) {
  std::vector<LeafRange> ranges;  // from the root down
  for (LeafRange tree{0, size}; tree.end - tree.begin > 1;) {
    const int64_t middle = tree.begin + LeftSize(tree.end - tree.begin);
    if (index < middle) {
      ranges.push_back({middle, tree.end});
      tree.end = middle;
    } else {
      ranges.push_back({tree.begin, middle});
      tree.begin = middle;
    }
  }
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

std::vector<LeafRange> ConsistencyRanges(int64_t old_size, int64_t new_size) {
  std::vector<LeafRange> ranges;  // from the root down
  LeafRange tree{0, new_size};
  while (tree.end > old_size) {
    const int64_t middle = tree.begin + LeftSize(tree.end - tree.begin);
    if (old_size <= middle) {
      ranges.push_back({middle, tree.end});
      tree.end = middle;
    } else {
      ranges.push_back({tree.begin, middle});
      tree.begin = middle;
    }
  }
  // The verifier knows the root of the whole old tree, but not the roots of its parts.
  if (tree.begin > 0) ranges.push_back(tree);
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

MerklePath::MerklePath(std::vector<LeafRange> ranges)
    : ranges_(std::move(ranges)), subtrees_(ranges_.size()) {}

void MerklePath::Append(const Hash& leaf) {
  for (size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].begin <= next_ && next_ < ranges_[i].end) subtrees_[i].Append(leaf);
  }
  ++next_;
}

std::vector<Hash> MerklePath::Roots() const {
  std::vector<Hash> roots;
  for (const MerkleFrontier& subtree : subtrees_) roots.push_back(subtree.Root());
  return roots;
}

}  // namespace epsledger::core
