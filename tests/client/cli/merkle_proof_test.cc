// The auditor's verifiers against paths of the naive definition, for every size to 70.

#include "client/cli/verify/merkle_proof.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/core/naive_merkle.h"

namespace epsledger::cli {
namespace {

naive::Leaves MakeLeaves(size_t count) {
  naive::Leaves leaves;
  for (size_t i = 0; i < count; ++i) leaves.push_back("leaf " + std::to_string(i));
  return leaves;
}

v1::InclusionProof Inclusion(size_t index, const naive::Leaves& leaves) {
  v1::InclusionProof proof;
  proof.set_sequence(static_cast<int64_t>(index) + 1);
  proof.set_tree_size(static_cast<int64_t>(leaves.size()));
  for (const std::string& hash : naive::InclusionPath(index, leaves)) proof.add_path(hash);
  proof.set_leaf_hash(LeafHash(leaves[index]));
  proof.set_merkle_root(naive::Root(leaves));
  return proof;
}

v1::ConsistencyProof Consistency(size_t old_size, const naive::Leaves& leaves) {
  v1::ConsistencyProof proof;
  proof.set_old_size(static_cast<int64_t>(old_size));
  proof.set_new_size(static_cast<int64_t>(leaves.size()));
  for (const std::string& hash : naive::ConsistencyPath(old_size, leaves)) proof.add_path(hash);
  proof.set_old_merkle_root(naive::Root(naive::Slice(leaves, 0, old_size)));
  proof.set_new_merkle_root(naive::Root(leaves));
  return proof;
}

// Every way of changing one hash, dropping one and adding one, for a proof with a path.
template <class Proof>
std::vector<Proof> Tampered(const Proof& proof) {
  std::vector<Proof> all;
  for (int i = 0; i < proof.path_size(); ++i) {
    for (const size_t byte : {size_t{0}, size_t{17}, size_t{31}}) {
      all.push_back(proof);
      (*all.back().mutable_path(i))[byte] ^= 1;
    }
    all.push_back(proof);
    all.back().mutable_path()->DeleteSubrange(i, 1);
    all.push_back(proof);
    all.back().mutable_path(i)->pop_back();
  }
  all.push_back(proof);
  all.back().add_path(std::string(32, 'x'));
  return all;
}

TEST(MerkleProof, InclusionHoldsAndTamperingIsSeen) {
  for (size_t size = 1; size <= 70; ++size) {
    const naive::Leaves leaves = MakeLeaves(size);
    for (size_t index = 0; index < size; ++index) {
      const v1::InclusionProof proof = Inclusion(index, leaves);
      ASSERT_TRUE(IsValid(proof)) << index << " of " << size;
      for (const v1::InclusionProof& bad : Tampered(proof)) EXPECT_FALSE(IsValid(bad));
      v1::InclusionProof bad = proof;
      (*bad.mutable_leaf_hash())[3] ^= 1;
      EXPECT_FALSE(IsValid(bad));
      bad = proof;
      (*bad.mutable_merkle_root())[3] ^= 1;
      EXPECT_FALSE(IsValid(bad));
      for (size_t other = 0; other < size; ++other) {
        bad = proof;
        bad.set_sequence(static_cast<int64_t>(other) + 1);
        EXPECT_EQ(IsValid(bad), other == index) << other << " for " << index << " of " << size;
      }
    }
  }
}

TEST(MerkleProof, ConsistencyHoldsAndTamperingIsSeen) {
  for (size_t size = 1; size <= 70; ++size) {
    const naive::Leaves leaves = MakeLeaves(size);
    for (size_t old_size = 1; old_size <= size; ++old_size) {
      const v1::ConsistencyProof proof = Consistency(old_size, leaves);
      ASSERT_TRUE(IsValid(proof)) << old_size << " to " << size;
      for (const v1::ConsistencyProof& bad : Tampered(proof)) EXPECT_FALSE(IsValid(bad));
      v1::ConsistencyProof bad = proof;
      (*bad.mutable_old_merkle_root())[3] ^= 1;
      EXPECT_FALSE(IsValid(bad));
      bad = proof;
      (*bad.mutable_new_merkle_root())[3] ^= 1;
      EXPECT_FALSE(IsValid(bad));
    }
  }
}

TEST(MerkleProof, ChangedHistoryHasNoConsistencyProof) {
  for (size_t size = 2; size <= 20; ++size) {
    for (size_t changed = 0; changed < size - 1; ++changed) {
      const naive::Leaves before = MakeLeaves(size - 1);
      naive::Leaves after = MakeLeaves(size);
      after[changed] = "rewritten";
      v1::ConsistencyProof proof = Consistency(size - 1, after);
      proof.set_old_merkle_root(naive::Root(before));
      EXPECT_FALSE(IsValid(proof));
    }
  }
}

TEST(MerkleProof, NumbersOutOfTheirDomainAreNoProof) {
  const naive::Leaves leaves = MakeLeaves(4);
  v1::InclusionProof inclusion = Inclusion(3, leaves);
  for (const int64_t sequence : {int64_t{-1}, int64_t{0}, int64_t{5}}) {
    inclusion.set_sequence(sequence);
    EXPECT_FALSE(IsValid(inclusion));
  }
  v1::ConsistencyProof consistency = Consistency(3, leaves);
  for (const int64_t old_size : {int64_t{-1}, int64_t{0}, int64_t{5}}) {
    consistency.set_old_size(old_size);
    EXPECT_FALSE(IsValid(consistency));
  }
  EXPECT_FALSE(IsValid(v1::InclusionProof()));
  EXPECT_FALSE(IsValid(v1::ConsistencyProof()));
}

}  // namespace
}  // namespace epsledger::cli
