// The operations of a PostgresStore for migrations.

#include "accounting/event/status_macros.h"
#include "server/storage/postgres/postgres_store.h"
#include "server/storage/postgres/statements.h"

namespace epsledger::storage {
namespace {

// Of a write that must be repeated.
constexpr int kPhaseAttempts = 8;

}  // namespace

absl::StatusOr<PostgresPhase> PostgresStore::Phase() {
  RETURN_IF_ERROR(ConnectIfLost());
  ASSIGN_OR_RETURN(const std::string name, connection_->ReadText(kPhase.sql));
  return PostgresPhaseOf(name);
}

absl::StatusOr<bool> PostgresStore::IsEmpty() {
  RETURN_IF_ERROR(ConnectIfLost());
  ASSIGN_OR_RETURN(const std::string empty,
                   connection_->ReadText("SELECT NOT EXISTS (SELECT 1 FROM entries)"));
  return empty == "t";
}

absl::Status PostgresStore::SetPhase(PostgresPhase phase) {
  return WritePhase(
      [phase](PostgresConnection& connection) { return WritePostgresPhase(connection, phase); });
}

absl::Status PostgresStore::ConfirmPhase() {
  return WritePhase([](PostgresConnection& connection) {
    return connection.Execute("UPDATE epsledger SET phase = phase");
  });
}

absl::Status PostgresStore::WritePhase(absl::FunctionRef<absl::Status(PostgresConnection&)> write) {
  RETURN_IF_ERROR(ConnectIfLost());
  connection_->TakeWarning();
  absl::Status status = write(*connection_);
  for (int attempt = 1; absl::IsAborted(status) && attempt < kPhaseAttempts; ++attempt) {
    status = write(*connection_);
  }
  if (status.ok() && engine_->await_writers != nullptr) {
    status = connection_->Execute(engine_->await_writers);
    if (!status.ok()) connection_ = nullptr;  // its transaction may be open
  }
  if (!status.ok()) return status;
  const std::string warning = connection_->TakeWarning();
  return warning.empty() ? absl::OkStatus()
                         : absl::UnavailableError(
                               "ledger database: the phase may be lost, run it again: " + warning);
}

}  // namespace epsledger::storage
