#ifndef EPSLEDGER_SERVER_STORAGE_CHARGE_BLOCK_H_
#define EPSLEDGER_SERVER_STORAGE_CHARGE_BLOCK_H_

#include <cstdint>

namespace epsledger::storage {

// Returns the value of charge_blocks.block in both databases, which locates the charges of a
// session in blocks of 64 sequence numbers. REQUIRES: sequence >= 0.
constexpr int64_t BlockOf(int64_t sequence) { return sequence >> 6; }

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_CHARGE_BLOCK_H_
