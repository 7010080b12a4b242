#ifndef EPSLEDGER_TESTS_POSTGRES_POSTGRES_PROGRAMS_H_
#define EPSLEDGER_TESTS_POSTGRES_POSTGRES_PROGRAMS_H_

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger {

// The programs of a PostgreSQL server (initdb, postgres, psql, ...), and the user they run as.
// PostgreSQL refuses to serve as root, so under root they become the user "postgres".
//
// They inherit the environment without PG... variables, and with LC_ALL set to C.
class PostgresPrograms {
 public:
  // If $EPSLEDGER_POSTGRES_BIN is set, looks only there; otherwise looks in Debian's folder of
  // PostgreSQL 15 and in the folder that pg_config reports. FailedPrecondition if the programs are
  // missing: a test then fails, it does not skip (docker/packages/test.txt has the package).
  static absl::StatusOr<PostgresPrograms> Find();

  // Where a program reads and writes, and its fate when the thread that started it ends.
  struct Setting {
    std::string folder;  // the working directory; the programs' user must reach it
    int input = -1;      // a descriptor, or -1 for /dev/null
    int output = -1;
    int errors = -1;
    int inherited = -1;  // one more descriptor that it keeps open under the same number, or -1
    int death_signal = SIGKILL;
  };

  // Starts bin/`program` and returns its process id. Unavailable if it cannot be started.
  absl::StatusOr<pid_t> Spawn(const std::string& program, const std::vector<std::string>& arguments,
                              const Setting& setting) const;

  // Runs bin/`program` to its end and returns what it wrote on standard output. Internal, with what
  // it wrote on standard error, unless it ended with 0.
  absl::StatusOr<std::string> Run(const std::string& program,
                                  const std::vector<std::string>& arguments,
                                  const std::string& folder, const std::string& input = "") const;

  // Makes the programs' user the owner of a file or folder.
  absl::Status Give(const std::string& path) const;

  const std::string& bin() const { return bin_; }

 private:
  std::string bin_;
  bool change_user_ = false;
  uid_t user_ = 0;
  gid_t group_ = 0;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_POSTGRES_POSTGRES_PROGRAMS_H_
