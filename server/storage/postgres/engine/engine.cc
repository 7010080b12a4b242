#include "server/storage/postgres/engine/engine.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "accounting/event/status_macros.h"

namespace epsledger::storage {
namespace {

using Release = std::pair<long, long>;

// How engines call themselves in version(), the most special first: YugabyteDB also begins like
// PostgreSQL, "PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64...". The release follows the mark.
constexpr struct {
  const char* mark;
  const PostgresEngine* engine;
  Release oldest;
} kKnown[] = {
    {"-YB-", &kYugabytedb, {2, 20}},
    {"CockroachDB", &kCockroachdb, {24, 1}},
    {"PostgreSQL ", &kPostgresql, {15, 0}},
};
// Products that begin like PostgreSQL and are not: their durability is not that of PostgreSQL.
constexpr const char* kOthers[] = {"Redshift", "Greenplum", "Materialize", "Cloudberry"};

// Returns the first number after `text` and, if a point follows, the second.
Release ReleaseAfter(std::string_view text) {
  const size_t digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return {0, 0};
  const std::string numbers(text.substr(digit));
  char* end = nullptr;
  const long major = std::strtol(numbers.c_str(), &end, 10);
  return {major, *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0};
}

absl::Status RefusedEngine(std::string_view version, const std::string& want) {
  return absl::FailedPreconditionError(
      absl::StrCat("ledger database: it calls itself \"", std::string(version), "\"; ", want));
}

}  // namespace

absl::StatusOr<const PostgresEngine*> PostgresEngineOf(std::string_view version) {
  constexpr char kWant[] =
      "want PostgreSQL 15 or later, CockroachDB 24.1 or later, or YugabyteDB 2.20 or later: of "
      "another one nobody knows whether it keeps what it acknowledges";
  for (const char* other : kOthers) {
    if (version.find(other) != std::string_view::npos) return RefusedEngine(version, kWant);
  }
  for (const auto& known : kKnown) {
    const size_t mark = version.find(known.mark);
    if (mark == std::string_view::npos) continue;
    if (known.engine == &kPostgresql && mark != 0) break;
    const std::string_view rest = version.substr(mark + std::string_view(known.mark).size());
    if (ReleaseAfter(rest) < known.oldest) break;
    return known.engine;
  }
  return RefusedEngine(version, kWant);
}

absl::StatusOr<const PostgresEngine*> FindPostgresEngine(PostgresConnection& connection,
                                                         bool accept_untested) {
  ASSIGN_OR_RETURN(const std::string version, connection.ReadText("SELECT version()"));
  ASSIGN_OR_RETURN(const PostgresEngine* const engine, PostgresEngineOf(version));
  if (engine->is_tested || accept_untested) return engine;
  return RefusedEngine(
      version, absl::StrCat("this store was never run on ", engine->name,
                            ", only on PostgreSQL with some of its behavior switched on. Say "
                            "--postgres-untested-engine to take that risk, and read "
                            "server/storage/README.md first"));
}

std::string SpellSchema(const PostgresEngine& engine, std::string_view definition) {
  return absl::StrReplaceAll(std::string(definition),
                             {{"{by bytes}", engine.schema_words.by_bytes},
                              {"{ascending}", engine.schema_words.ascending},
                              {"{if missing}", engine.schema_words.if_missing}});
}

}  // namespace epsledger::storage
