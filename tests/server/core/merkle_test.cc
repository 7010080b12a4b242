#include "server/core/merkle.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/server/core/ledger_harness.h"
#include "tests/server/core/naive_merkle.h"

namespace epsledger::core {
namespace {

std::string Bytes(const Hash& hash) { return std::string(hash.begin(), hash.end()); }
std::string HexOf(const Hash& hash) { return absl::BytesToHexString(Bytes(hash)); }

// The leaves of the reference tests of Certificate Transparency (merkle_tree_test).
const std::vector<std::string>& ReferenceLeaves() {
  static const auto& leaves =
      *new std::vector<std::string>{"",
                                    absl::HexStringToBytes("00"),
                                    absl::HexStringToBytes("10"),
                                    absl::HexStringToBytes("2021"),
                                    absl::HexStringToBytes("3031"),
                                    absl::HexStringToBytes("40414243"),
                                    absl::HexStringToBytes("5051525354555657"),
                                    absl::HexStringToBytes("606162636465666768696a6b6c6d6e6f")};
  return leaves;
}

std::vector<std::string> Paths(const std::vector<std::string>& leaves,
                               std::vector<LeafRange> ranges) {
  MerklePath path(std::move(ranges));
  for (const std::string& leaf : leaves) path.Append(MerkleLeaf(leaf));
  std::vector<std::string> roots;
  for (const Hash& root : path.Roots()) roots.push_back(Bytes(root));
  return roots;
}

TEST(Merkle, RootsAreThoseOfTheReferenceTests) {
  const char* const roots[] = {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                               "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                               "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                               "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                               "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                               "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                               "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                               "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                               "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
  MerkleFrontier tree;
  EXPECT_EQ(HexOf(tree.Root()), roots[0]);
  for (size_t i = 0; i < ReferenceLeaves().size(); ++i) {
    tree.Append(MerkleLeaf(ReferenceLeaves()[i]));
    EXPECT_EQ(HexOf(tree.Root()), roots[i + 1]) << i + 1;
  }
}

TEST(Merkle, ConsistencyPathIsThatOfTheReferenceTests) {
  const std::vector<std::string> path = Paths(ReferenceLeaves(), ConsistencyRanges(1, 8));
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(absl::BytesToHexString(path[0]),
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7");
  EXPECT_EQ(absl::BytesToHexString(path[1]),
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e");
  EXPECT_EQ(absl::BytesToHexString(path[2]),
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4");
}

TEST(Merkle, IsTheRecursiveDefinitionAtEverySize) {
  std::vector<std::string> leaves;
  MerkleFrontier tree;
  for (size_t size = 1; size <= 70; ++size) {
    leaves.push_back(absl::StrCat("leaf ", size));
    tree.Append(MerkleLeaf(leaves.back()));
    EXPECT_EQ(tree.size(), static_cast<int64_t>(size));
    EXPECT_EQ(Bytes(tree.Root()), naive::Root(leaves));
    for (size_t m = 0; m < size; ++m) {
      EXPECT_EQ(Paths(leaves, InclusionRanges(m, size)), naive::InclusionPath(m, leaves))
          << m << " of " << size;
      EXPECT_EQ(Paths(leaves, ConsistencyRanges(m + 1, size)),
                naive::ConsistencyPath(m + 1, leaves))
          << m + 1 << " to " << size;
    }
  }
}

TEST(Merkle, LedgerKeepsTheTreeOfItsContents) {
  LedgerHarness harness;
  EXPECT_EQ(HexOf(harness.ledger.merkle().Root()), HexOf(MerkleFrontier().Root()));
  ASSERT_TRUE(harness.Run(CreateBudget{PureBudget("b", 1)}).ok());
  ASSERT_TRUE(harness.Run(CreateSession{AdaptiveSession("b", "s")}).ok());
  ASSERT_TRUE(harness.Run(OpenAttempt{{"b", "s"}, "", {}}).ok());
  for (int i = 0; i < 5; ++i) {
    harness.Decide({"b", "s"}, 1, absl::StrCat("c", i), accounting::PureDp{0.3});
  }
  std::vector<std::string> contents;
  for (const Entry& entry : harness.entries) contents.push_back(entry.content);
  EXPECT_EQ(harness.ledger.merkle().size(), harness.ledger.head().sequence);
  EXPECT_EQ(Bytes(harness.ledger.merkle().Root()), naive::Root(contents));
}

}  // namespace
}  // namespace epsledger::core
