#ifndef EPSLEDGER_SERVER_STORAGE_CHARGE_BLOCK_H_
#define EPSLEDGER_SERVER_STORAGE_CHARGE_BLOCK_H_

#include <cstdint>

namespace epsledger::storage {

// charge_blocks.block of both databases: where the charges of a session are, 64 sequence numbers at
// a time. REQUIRES: sequence >= 0.
constexpr int64_t BlockOf(int64_t sequence) { return sequence >> 6; }

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_CHARGE_BLOCK_H_
