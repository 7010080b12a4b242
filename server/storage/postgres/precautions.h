#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_PRECAUTIONS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_PRECAUTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// What is unwise about this session, a sentence each, for the log: it is a superuser's, or passes
// in plaintext through a network. What cannot be found out is not told.
std::vector<std::string> MissingPrecautions(PostgresConnection& connection);

// Whether an IP address, in its canonical form, is this machine's own: 127.0.0.0/8, the same mapped
// into IPv6, and ::1.
bool IsLoopback(std::string_view address);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_PRECAUTIONS_H_
