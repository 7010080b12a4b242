#include "client/cli/verify/merkle_proof.h"

#include <cstdint>

#include <openssl/sha.h>

namespace epsledger::cli {
namespace {

bool IsHash(const std::string& bytes) { return bytes.size() == SHA256_DIGEST_LENGTH; }

}  // namespace

std::string Sha256(const std::string& bytes) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

std::string LeafHash(const std::string& content) { return Sha256(std::string(1, '\0') + content); }

std::string MerkleNode(const std::string& left, const std::string& right) {
  return Sha256(std::string(1, '\1') + left + right);
}

bool IsValid(const v1::AuditEntry& entry) {
  return IsHash(entry.previous_hash()) &&
         Sha256(entry.previous_hash() + entry.content()) == entry.hash();
}

bool IsValid(const v1::InclusionProof& proof) {
  if (proof.sequence() < 1 || proof.sequence() > proof.tree_size() || !IsHash(proof.leaf_hash())) {
    return false;
  }
  int64_t node = proof.sequence() - 1;
  int64_t last = proof.tree_size() - 1;
  std::string root = proof.leaf_hash();
  for (const std::string& sibling : proof.path()) {
    if (last == 0 || !IsHash(sibling)) return false;
    if (node % 2 == 1 || node == last) {
      root = MerkleNode(sibling, root);
      while (node % 2 == 0 && node != 0) {
        node /= 2;
        last /= 2;
      }
    } else {
      root = MerkleNode(root, sibling);
    }
    node /= 2;
    last /= 2;
  }
  return last == 0 && root == proof.merkle_root();
}

bool IsValid(const v1::ConsistencyProof& proof) {
  const int64_t old_size = proof.old_size();
  const int64_t new_size = proof.new_size();
  if (old_size < 1 || old_size > new_size) return false;
  if (old_size == new_size) {
    return proof.path().empty() && proof.old_merkle_root() == proof.new_merkle_root();
  }
  int64_t node = old_size - 1;
  int64_t last = new_size - 1;
  while (node % 2 == 1) {
    node /= 2;
    last /= 2;
  }
  int next = 0;
  // A complete old tree is itself the first node of the path.
  std::string old_root = proof.old_merkle_root();
  if (node > 0) {
    if (proof.path().empty()) return false;
    old_root = proof.path(next++);
  }
  std::string new_root = old_root;
  if (!IsHash(old_root)) return false;
  for (; next < proof.path_size(); ++next) {
    const std::string& sibling = proof.path(next);
    if (last == 0 || !IsHash(sibling)) return false;
    if (node % 2 == 1 || node == last) {
      old_root = MerkleNode(sibling, old_root);
      new_root = MerkleNode(sibling, new_root);
      while (node % 2 == 0 && node != 0) {
        node /= 2;
        last /= 2;
      }
    } else {
      new_root = MerkleNode(new_root, sibling);
    }
    node /= 2;
    last /= 2;
  }
  return last == 0 && old_root == proof.old_merkle_root() && new_root == proof.new_merkle_root();
}

}  // namespace epsledger::cli
