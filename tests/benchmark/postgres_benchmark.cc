// Durable charges per second through 1, 2 and 4 real server processes over one PostgreSQL that
// syncs every commit, beside a raw loop that writes the same rows, as many a transaction as the
// servers reached, and beside one server on SQLite; all interleaved in one run. Prints a table in
// Markdown, with the processor time that servers, PostgreSQL and this program took for a charge,
// which depends little on what else the machine does, and the share of the processors that was
// taken: by them together ("ours") and by everything. At 100 the processors are what limits.
//
//   postgres_benchmark [--rounds=5] [--milliseconds=1000] [--part=all] [--servers=0]
//                      [--budgets=1000] [--calls-in-flight=0] [--setting=NAME=VALUE ...]
//
// --part is one of calls, batches (both on one hot budget) and budgets. --servers measures that
// number alone, and neither the loop nor SQLite: to be profiled. --setting is PostgreSQL's.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "epsledger/v1/budget_service.grpc.pb.h"
#include "epsledger/v1/session_service.grpc.pb.h"
#include "tests/benchmark/charge_load.h"
#include "tests/benchmark/processor_time.h"
#include "tests/benchmark/raw_postgres_rows.h"
#include "tests/end_to_end/server_process.h"
#include "tests/postgres/postgres_cluster.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kConnections = ChargeLoad::kConnections;

struct Flags {
  int rounds = 5;
  int milliseconds = 1000;
  int servers = 0;
  int budgets = 1000;
  int calls_in_flight = 0;
  std::string part = "all";
  std::vector<std::string> settings = {};

  bool Wants(const char* name) const { return part == "all" || part == name; }
};

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

template <class Value>
Value Must(absl::StatusOr<Value> value) {
  if (!value.ok()) Die(value.status().ToString());
  return *std::move(value);
}

template <class Reply, class Call>
Reply Must(Call call) {
  grpc::ClientContext context;
  Reply reply;
  const grpc::Status status = call(&context, &reply);
  if (!status.ok()) Die(status.error_message());
  return reply;
}

// A budget with room for every charge of the run.
void MakeBudget(const std::shared_ptr<grpc::Channel>& channel, const std::string& id) {
  v1::CreateBudgetRequest budget;
  budget.set_budget_id(id);
  budget.mutable_budget()->mutable_cap()->mutable_gaussian_dp()->set_mu(1000);
  budget.mutable_budget()->set_neighboring_relation(v1::NeighboringRelation::ADD_OR_REMOVE_ONE);
  budget.mutable_budget()->set_privacy_unit("person");
  const auto budgets = v1::BudgetService::NewStub(channel);
  Must<v1::Budget>([&](auto* c, auto* r) { return budgets->CreateBudget(c, budget, r); });
}

// An open attempt of a new session.
std::string MakeAttempt(const std::shared_ptr<grpc::Channel>& channel, const std::string& budget,
                        const std::string& id) {
  const auto sessions = v1::SessionService::NewStub(channel);
  v1::CreateSessionRequest session;
  session.set_parent("budgets/" + budget);
  session.set_session_id(id);
  session.mutable_session()->set_mode(v1::Session::ADAPTIVE);
  session.mutable_session()->set_neighboring_relation(v1::NeighboringRelation::ADD_OR_REMOVE_ONE);
  session.mutable_session()->set_no_own_cap(true);
  Must<v1::Session>([&](auto* c, auto* r) { return sessions->CreateSession(c, session, r); });
  v1::OpenAttemptRequest open;
  open.set_session("budgets/" + budget + "/sessions/" + id);
  return Must<v1::Attempt>([&](auto* c, auto* r) { return sessions->OpenAttempt(c, open, r); })
      .name();
}

// Runs work(0) to work(count - 1), many at a time.
template <class Work>
void InParallel(int count, Work work) {
  std::atomic<int> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&] {
      for (int index = next++; index < count; index = next++) work(index);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::string BudgetName(int index) { return "budget-" + std::to_string(index); }

// What is measured, and in which part.
struct Case {
  const char* part;
  const char* what;
  ChargeLoad::Shape shape;
  bool hot = true;
  // Not hot: whether every connection charges every budget, or each its own.
  bool shared = false;
};

const Case kCases[] = {
    {"calls", "one budget, single charges", {64, 1}},
    {"calls", "one budget, single charges", {256, 1}},
    {"batches", "one budget, batches of 100", {8, 100}},
    {"batches", "one budget, batches of 100", {32, 100}},
    {"budgets", "many budgets, each at one server, single charges", {256, 1}, false, false},
    {"budgets", "many budgets, each at every server, single charges", {256, 1}, false, true},
    {"budgets", "many budgets, each at one server, batches of 100", {32, 100}, false, false},
    {"budgets", "many budgets, each at every server, batches of 100", {32, 100}, false, true},
};

// Servers over one ledger, with budgets and attempts to charge.
class Deployment {
 public:
  // `server_count` 0: one on SQLite.
  Deployment(const PostgresCluster& cluster, std::string database, int server_count,
             const std::string& folder, const Flags& flags)
      : server_count_(server_count), cluster_(cluster), database_(std::move(database)) {
    std::vector<std::string> addresses;
    for (int i = 0; i < std::max(1, server_count); ++i) {
      if (server_count == 0) {
        servers_.push_back(std::make_unique<ServerProcess>(folder + "/embedded"));
      } else {
        servers_.push_back(std::make_unique<ServerProcess>(ServerProcess::Flags{
            {"--postgres", cluster.ConnectionString(database_), "--postgres-without-standby",
             "--statement-key", folder + "/statement.key"}}));
      }
      if (servers_.back()->address().empty()) Die(servers_.back()->output());
      addresses.push_back(servers_.back()->address());
    }
    load_ = std::make_unique<ChargeLoad>(addresses);
    if (flags.Wants("calls") || flags.Wants("batches")) MakeHot();
    if (flags.Wants("budgets")) MakeMany(flags.budgets);
  }

  int server_count() const { return server_count_; }

  double Run(const Case& measured, std::chrono::milliseconds duration) {
    ChargeLoad::Shape shape = measured.shape;
    const Attempts& attempts = measured.hot ? hot_ : (measured.shared ? every_ : own_);
    // With fewer budgets than calls, as in a trial of this program.
    const int free = kConnections * static_cast<int>(attempts.front().size());
    shape.calls_in_flight = std::min(shape.calls_in_flight, free);
    return load_->Run(shape, attempts, duration);
  }

  double ServerSeconds() const {
    double seconds = 0;
    for (const auto& server : servers_) seconds += ProcessorSeconds(server->pid());
    return seconds;
  }

  // Where the table of entries ends.
  std::string EndOfEntries() const {
    return Must(cluster_.Sql(database_,
                             "SELECT pg_relation_size('entries') / 8192 || ' ' || "
                             "pg_snapshot_xmax(pg_current_snapshot())"));
  }
  // Entries a transaction of those behind it.
  double RowsPerTransaction(const std::string& end) const {
    const size_t space = end.find(' ');
    // The page that was the last one may have room.
    const int page = std::max(0, std::atoi(end.c_str()) - 1);
    const std::string rows = Must(cluster_.Sql(
        database_,
        "SELECT count(*)::float / greatest(1, count(DISTINCT xmin::text)) FROM entries "
        "WHERE ctid >= '(" +
            std::to_string(page) + ",0)' AND xmin::text::bigint >= " + end.substr(space + 1)));
    return std::atof(rows.c_str());
  }
  int BytesOfNewestEntry() const {
    return std::atoi(Must(cluster_.Sql(database_,
                                       "SELECT length(content) FROM entries ORDER BY "
                                       "ledger_id, sequence DESC LIMIT 1"))
                         .c_str());
  }

 private:
  using Attempts = std::vector<std::vector<std::string>>;  // of each connection

  void MakeHot() {
    MakeBudget(load_->channel(0), "hot");
    constexpr int kEach = 64;
    hot_.assign(kConnections, std::vector<std::string>(kEach));
    InParallel(kConnections * kEach, [&](int i) {
      const int connection = i % kConnections;
      hot_[connection][i / kConnections] =
          MakeAttempt(load_->channel(connection), "hot", "run-" + std::to_string(i));
    });
  }

  void MakeMany(int count) {
    InParallel(count, [&](int i) { MakeBudget(load_->channel(i % kConnections), BudgetName(i)); });
    every_.assign(kConnections, std::vector<std::string>(count));
    own_.assign(kConnections, {});
    InParallel(count, [&](int i) {
      for (int connection = 0; connection < kConnections; ++connection) {
        // Each begins somewhere else.
        const int place = (i + connection * count / kConnections) % count;
        every_[connection][place] = MakeAttempt(load_->channel(connection), BudgetName(i),
                                                "run-" + std::to_string(connection));
      }
    });
    for (int connection = 0; connection < kConnections; ++connection) {
      const std::vector<std::string>& all = every_[connection];
      for (int place = connection; place < count; place += kConnections) {
        own_[connection].push_back(all[(place + connection * count / kConnections) % count]);
      }
    }
  }

  const int server_count_;
  const PostgresCluster& cluster_;
  const std::string database_;
  std::vector<std::unique_ptr<ServerProcess>> servers_;
  std::unique_ptr<ChargeLoad> load_;
  Attempts hot_, own_, every_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// What was measured, a value a round.
using Row = std::map<std::string, std::vector<double>>;

void Print(const Case& measured, const std::string& who, const Row& row) {
  const auto cell = [&](const char* name, int digits) {
    const auto it = row.find(name);
    if (it == row.end()) {
      std::printf(" - |");
    } else {
      std::printf(" %.*f |", digits, Median(it->second));
    }
  };
  std::printf("| %s, %d in flight | %s |", measured.what, measured.shape.calls_in_flight,
              who.c_str());
  cell("charges", 0);
  cell("rows", 0);
  cell("raw", 0);
  cell("of raw", 2);
  cell("of embedded", 2);
  cell("servers us", 1);
  cell("postgres us", 1);
  cell("load us", 1);
  cell("raw us", 1);
  cell("ours", 0);
  cell("machine", 0);
  cell("raw ours", 0);
  cell("raw machine", 0);
  std::printf("\n");
  std::fflush(stdout);
}

class Benchmark {
 public:
  explicit Benchmark(Flags flags) : flags_(std::move(flags)) {
    cluster_ = Must(PostgresCluster::Start({.settings = flags_.settings}));
    for (const int count : {1, 2, 4}) {
      if (flags_.servers != 0 && flags_.servers != count) continue;
      deployments_.push_back(Deploy(count));
    }
    if (flags_.servers != 0) return;
    embedded_ = Deploy(0);
    const std::string conninfo = cluster_->ConnectionString(Must(cluster_->CreateDatabase()));
    raw_hot_ = std::make_unique<RawPostgresRows>(conninfo, std::vector<std::string>{"hot"});
    for (int i = 0; i < kConnections; ++i) {
      std::vector<std::string> names;
      for (int b = i; b < flags_.budgets; b += kConnections) names.push_back(BudgetName(b));
      raw_many_.push_back(std::make_unique<RawPostgresRows>(conninfo, names));
    }
  }

  void Run() {
    std::printf(
        "| what | servers | charges/s | rows a commit | raw rows/s | of raw | of embedded | "
        "servers us | PostgreSQL us | load us | raw us | ours %% | machine %% | raw: ours %% | "
        "machine %% |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const Case& measured : kCases) {
      if (!flags_.Wants(measured.part)) continue;
      if (flags_.calls_in_flight != 0 && flags_.calls_in_flight != measured.shape.calls_in_flight) {
        continue;
      }
      Measure(measured);
    }
    std::printf(
        "\nMedians of %d rounds of %d ms; ratios are medians of the rounds' ratios. Shares are of "
        "all %ld processors; the machine's is of everything that runs on it.\n",
        flags_.rounds, flags_.milliseconds, sysconf(_SC_NPROCESSORS_ONLN));
  }

 private:
  std::unique_ptr<Deployment> Deploy(int count) {
    return std::make_unique<Deployment>(*cluster_, Must(cluster_->CreateDatabase()), count,
                                        folder_.path(), flags_);
  }

  void Measure(const Case& measured) {
    std::map<int, Row> rows;  // by number of servers; 0: embedded
    for (int round = 0; round < flags_.rounds; ++round) {
      double embedded = 0;
      if (embedded_ != nullptr) {
        MeasureServers(*embedded_, measured, &rows[0]);
        embedded = rows[0]["charges"].back();
      }
      for (const auto& deployment : deployments_) {
        Row& row = rows[deployment->server_count()];
        const std::string end = deployment->EndOfEntries();
        MeasureServers(*deployment, measured, &row);
        row["rows"].push_back(deployment->RowsPerTransaction(end));
        if (embedded_ == nullptr) continue;
        row["of embedded"].push_back(row["charges"].back() / embedded);
        MeasureRaw(measured, *deployment, &row);
        row["of raw"].push_back(row["charges"].back() / row["raw"].back());
      }
    }
    for (const auto& [count, row] : rows) {
      Print(measured, count == 0 ? "embedded" : std::to_string(count), row);
    }
  }

  // Processor time so far.
  struct Taken {
    double servers = 0;
    double postgres = 0;
    double load = 0;
    double machine = 0;
    Clock::time_point when;
  };
  Taken Now(const Deployment* servers) const {
    return {servers == nullptr ? 0 : servers->ServerSeconds(),
            FamilyProcessorSeconds(cluster_->postmaster()), ProcessorSeconds(getpid()),
            MachineProcessorSeconds(), Clock::now()};
  }
  // Notes which share of all processors was taken since, by these and by all processes.
  static void NoteShares(const Taken& before, const Taken& after, const std::string& prefix,
                         Row* row) {
    const double percent = std::chrono::duration<double>(after.when - before.when).count() *
                           static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)) / 100;
    const double ours = after.servers - before.servers + after.postgres - before.postgres +
                        after.load - before.load;
    (*row)[prefix + "ours"].push_back(ours / percent);
    (*row)[prefix + "machine"].push_back((after.machine - before.machine) / percent);
  }

  void MeasureServers(Deployment& servers, const Case& measured, Row* row) {
    const Taken before = Now(&servers);
    const double rate = servers.Run(measured, std::chrono::milliseconds(flags_.milliseconds));
    const Taken after = Now(&servers);
    NoteShares(before, after, "", row);
    const double charges = rate * std::chrono::duration<double>(after.when - before.when).count();
    (*row)["charges"].push_back(rate);
    (*row)["servers us"].push_back(1e6 * (after.servers - before.servers) / charges);
    (*row)["postgres us"].push_back(1e6 * (after.postgres - before.postgres) / charges);
    (*row)["load us"].push_back(1e6 * (after.load - before.load) / charges);
  }

  void MeasureRaw(const Case& measured, const Deployment& servers, Row* row) {
    const int size = std::max(1, static_cast<int>((*row)["rows"].back() + 0.5));
    const int connections = measured.hot ? 1 : servers.server_count();
    std::vector<RawPostgresRows*> raw;
    for (int i = 0; i < connections; ++i) {
      raw.push_back(measured.hot ? raw_hot_.get() : raw_many_[i].get());
    }
    const RawPostgresRows::Shape shape = {
        .ledgers = measured.hot ? 1 : std::max(1, flags_.budgets / kConnections),
        .sessions = measured.hot ? measured.shape.calls_in_flight : 1,
        .run = measured.shape.charges_a_call,
        .content_bytes = servers.BytesOfNewestEntry()};
    const Taken before = Now(nullptr);
    const double rate = RowsPerSecond(raw, shape, size);
    const Taken after = Now(nullptr);
    NoteShares(before, after, "raw ", row);
    (*row)["raw"].push_back(rate);
    (*row)["raw us"].push_back(
        1e6 * (after.postgres - before.postgres + after.load - before.load) /
        (rate * std::chrono::duration<double>(after.when - before.when).count()));
  }

  double RowsPerSecond(const std::vector<RawPostgresRows*>& raw,
                       const RawPostgresRows::Shape& shape, int size) const {
    const Clock::time_point start = Clock::now();
    const Clock::time_point end = start + std::chrono::milliseconds(flags_.milliseconds);
    std::atomic<int64_t> written{0};
    std::vector<std::thread> threads;
    for (RawPostgresRows* rows : raw) {
      threads.emplace_back([&, rows] {
        while (Clock::now() < end) {
          rows->WriteTransaction(size, shape);
          written += size;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return static_cast<double>(written.load()) /
           std::chrono::duration<double>(Clock::now() - start).count();
  }

  const Flags flags_;
  const ScratchFolder folder_;
  std::unique_ptr<PostgresCluster> cluster_;
  std::vector<std::unique_ptr<Deployment>> deployments_;
  std::unique_ptr<Deployment> embedded_;
  std::unique_ptr<RawPostgresRows> raw_hot_;
  std::vector<std::unique_ptr<RawPostgresRows>> raw_many_;
};

bool Parse(int argc, char** argv, Flags* flags) {
  for (int i = 1; i < argc; ++i) {
    const char* const argument = argv[i];
    if (std::sscanf(argument, "--rounds=%d", &flags->rounds) == 1 ||
        std::sscanf(argument, "--milliseconds=%d", &flags->milliseconds) == 1 ||
        std::sscanf(argument, "--servers=%d", &flags->servers) == 1 ||
        std::sscanf(argument, "--budgets=%d", &flags->budgets) == 1 ||
        std::sscanf(argument, "--calls-in-flight=%d", &flags->calls_in_flight) == 1) {
      continue;
    }
    if (std::strncmp(argument, "--part=", 7) == 0) {
      flags->part = argument + 7;
    } else if (std::strncmp(argument, "--setting=", 10) == 0) {
      flags->settings.push_back(argument + 10);
    } else {
      return false;
    }
  }
  return flags->rounds >= 1 && flags->milliseconds >= 1 && flags->budgets >= kConnections;
}

}  // namespace
}  // namespace epsledger

int main(int argc, char** argv) {
  epsledger::Flags flags;
  if (!epsledger::Parse(argc, argv, &flags)) {
    std::fprintf(stderr,
                 "usage: %s [--rounds=N] [--milliseconds=N] [--part=all|calls|batches|budgets] "
                 "[--servers=1|2|4] [--budgets=N] [--calls-in-flight=N] [--setting=NAME=VALUE]\n",
                 argv[0]);
    return 2;
  }
  epsledger::Benchmark(flags).Run();
  return 0;
}
