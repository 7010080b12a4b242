#ifndef EPSLEDGER_CLIENT_CLI_VERIFY_MERKLE_PROOF_H_
#define EPSLEDGER_CLIENT_CLI_VERIFY_MERKLE_PROOF_H_

#include <string>

#include "epsledger/v1/audit.pb.h"

namespace epsledger::cli {

// The checks of an auditor, written from RFC 9162 without any code of the server.

std::string Sha256(const std::string& bytes);

// Returns true if the path leads from the leaf to the root (RFC 9162, 2.1.3.2). It does not say
// whose root it is.
bool IsValid(const v1::InclusionProof& proof);

// Returns true if the path leads to both roots (RFC 9162, 2.1.4.2).
bool IsValid(const v1::ConsistencyProof& proof);

// Returns true if the entry's hash follows from its content and the hash before it.
bool IsValid(const v1::AuditEntry& entry);

// Returns the leaf of an entry: SHA-256(0x00 || content).
std::string LeafHash(const std::string& content);
// Returns SHA-256(0x01 || left || right).
std::string MerkleNode(const std::string& left, const std::string& right);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_VERIFY_MERKLE_PROOF_H_
