#include "server/storage/postgres/precautions.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace epsledger::storage {

std::vector<std::string> MissingPrecautions(PostgresConnection& connection) {
  std::vector<std::string> missing;
  const absl::StatusOr<std::string> superuser = connection.ReadText("SHOW is_superuser");
  if (superuser.ok() && *superuser == "on") {
    missing.push_back(
        "--postgres: the server logs in as a superuser, who can change what is written and how it "
        "is kept; give it a plain role that owns the database");
  }
  const std::string address = connection.Address();
  if (!connection.IsEncrypted() && !address.empty() && !IsLoopback(address)) {
    missing.push_back(
        absl::StrCat("--postgres: the connection to ", address,
                     " has no TLS: whoever is on the way can read and change what passes; say "
                     "sslmode=verify-full sslrootcert=FILE"));
  }
  return missing;
}

bool IsLoopback(std::string_view address) {
  return address == "::1" || address.starts_with("127.") || address.starts_with("::ffff:127.");
}

}  // namespace epsledger::storage
