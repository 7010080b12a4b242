#ifndef EPSLEDGER_TESTS_SERVER_CORE_NAIVE_MERKLE_H_
#define EPSLEDGER_TESTS_SERVER_CORE_NAIVE_MERKLE_H_

// Implements RFC 6962, section 2.1, word for word: recursive, over all leaves, slow.

#include <openssl/sha.h>

#include <cstddef>
#include <string>
#include <vector>

namespace epsledger::naive {

using Leaves = std::vector<std::string>;
using Path = std::vector<std::string>;

inline std::string Sha256(const std::string& bytes) {
  std::string hash(32, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

// "k, the largest power of two smaller than n (i.e., k < n <= 2k)".
inline size_t K(size_t n) {
  size_t k = 1;
  while (2 * k < n) k *= 2;
  return k;
}

inline Leaves Slice(const Leaves& d, size_t from, size_t to) {
  return Leaves(d.begin() + static_cast<long>(from), d.begin() + static_cast<long>(to));
}

// MTH(D[n]).
inline std::string Root(const Leaves& d) {
  if (d.empty()) return Sha256("");
  if (d.size() == 1) return Sha256(std::string(1, '\0') + d[0]);
  const size_t k = K(d.size());
  return Sha256(std::string(1, '\1') + Root(Slice(d, 0, k)) + Root(Slice(d, k, d.size())));
}

inline Path Join(Path path, const std::string& last) {
  path.push_back(last);
  return path;
}

// PATH(m, D[n]).
inline Path InclusionPath(size_t m, const Leaves& d) {
  if (d.size() == 1) return {};
  const size_t k = K(d.size());
  if (m < k) return Join(InclusionPath(m, Slice(d, 0, k)), Root(Slice(d, k, d.size())));
  return Join(InclusionPath(m - k, Slice(d, k, d.size())), Root(Slice(d, 0, k)));
}

// SUBPROOF(m, D[n], b).
inline Path Subproof(size_t m, const Leaves& d, bool whole) {
  if (m == d.size()) return whole ? Path{} : Path{Root(d)};
  const size_t k = K(d.size());
  if (m <= k) return Join(Subproof(m, Slice(d, 0, k), whole), Root(Slice(d, k, d.size())));
  return Join(Subproof(m - k, Slice(d, k, d.size()), false), Root(Slice(d, 0, k)));
}

// PROOF(m, D[n]).
inline Path ConsistencyPath(size_t m, const Leaves& d) { return Subproof(m, d, true); }

}  // namespace epsledger::naive

#endif  // EPSLEDGER_TESTS_SERVER_CORE_NAIVE_MERKLE_H_
