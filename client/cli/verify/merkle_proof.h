#ifndef EPSLEDGER_CLIENT_CLI_VERIFY_MERKLE_PROOF_H_
#define EPSLEDGER_CLIENT_CLI_VERIFY_MERKLE_PROOF_H_

#include <string>

#include "epsledger/v1/audit.pb.h"

namespace epsledger::cli {

// The checks of an auditor, written from RFC 9162 and from nothing of the server's.

std::string Sha256(const std::string& bytes);

// True if the path leads from the leaf to the root (RFC 9162, 2.1.3.2). Says nothing of whose root
// it is.
bool IsValid(const v1::InclusionProof& proof);

// True if the path leads to both roots (RFC 9162, 2.1.4.2).
bool IsValid(const v1::ConsistencyProof& proof);

// True if the entry's hash follows from its content and the hash before it.
bool IsValid(const v1::AuditEntry& entry);

// The leaf of an entry: SHA-256(0x00 || content).
std::string LeafHash(const std::string& content);
// SHA-256(0x01 || left || right).
std::string MerkleNode(const std::string& left, const std::string& right);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_VERIFY_MERKLE_PROOF_H_
