#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_PRECAUTIONS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_PRECAUTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// Returns the risks of this session for the log, one sentence each: it belongs to a superuser, or
// passes in plaintext through a network. Unknown facts are not reported.
std::vector<std::string> MissingPrecautions(PostgresConnection& connection);

// True if an IP address, in its canonical form, is a loopback address: 127.0.0.0/8, the same mapped
// into IPv6, or ::1.
bool IsLoopback(std::string_view address);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_PRECAUTIONS_H_
