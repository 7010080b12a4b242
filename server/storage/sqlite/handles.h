#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_HANDLES_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_HANDLES_H_

#include <sqlite3.h>

#include <memory>

namespace epsledger::storage {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_HANDLES_H_
