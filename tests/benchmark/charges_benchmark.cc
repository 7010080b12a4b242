// Durable charges per second through a real server process on SQLite, beside a no-op gRPC call of
// the same shape to another process, interleaved in one run. Prints a table in Markdown, with the
// processor time that each server took for a call: it hardly depends on what else the machine does.
// Then charges in batches, beside a bare SQLite loop that writes the same rows; charges over a
// stream, beside a no-op stream; charges at a server that knows its callers by tokens and keeps an
// access log, beside one that does not; and a step of a lease in the client.
//
//   charges_benchmark [--rounds=5] [--milliseconds=1000] [--part=all] [--in-flight=0]
//                     [--data-dir=DIR] [--before=PATH]
//
// --part is one of calls, batches, stream, access and lease. --in-flight measures that number of
// calls alone, 0: 1, 8, 64 and 256.
// --data-dir decides which file system is measured: by default a fresh folder in the temporary one.
// --before is an epsledgerd of another version: it is the one without tokens and access log, so
// that old is measured beside new.

#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "epsledger/client.h"
#include "epsledger/v1/budget_service.grpc.pb.h"
#include "epsledger/v1/charge_service.grpc.pb.h"
#include "epsledger/v1/session_service.grpc.pb.h"
#include "tests/benchmark/processor_time.h"
#include "tests/benchmark/raw_rows.h"
#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

using Clock = std::chrono::steady_clock;

// Answers every charge at once and keeps nothing.
class NoOpService : public v1::ChargeService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Charge(grpc::CallbackServerContext* context,
                                   const v1::ChargeRequest* request, v1::Charge* reply) override {
    reply->set_name(request->attempt());
    reply->set_decision(v1::Charge::ACCEPTED);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerBidiReactor<v1::ChargeRequest, v1::ChargeResult>* StreamCharges(
      grpc::CallbackServerContext*) override {
    class Stream : public grpc::ServerBidiReactor<v1::ChargeRequest, v1::ChargeResult> {
     public:
      Stream() { StartRead(&request_); }
      void OnReadDone(bool ok) override {
        if (!ok) return Finish(grpc::Status::OK);
        result_.mutable_accepted()->set_name(request_.attempt());
        StartWrite(&result_);
      }
      void OnWriteDone(bool) override { StartRead(&request_); }
      void OnDone() override { delete this; }  // gRPC's way of giving a reactor back

     private:
      v1::ChargeRequest request_;
      v1::ChargeResult result_;
    };
    return new Stream();
  }
};

// The no-op server in a process of its own, forked before this one has any gRPC thread.
class NoOpProcess {
 public:
  NoOpProcess() {
    int fds[2];
    if (pipe(fds) != 0) std::exit(1);
    pid_ = fork();
    if (pid_ == 0) {
      NoOpService service;
      grpc::ServerBuilder builder;
      int port = 0;
      builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
      builder.RegisterService(&service);
      const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
      if (write(fds[1], &port, sizeof port) != sizeof port) std::_Exit(1);
      server->Wait();
      std::_Exit(0);
    }
    int port = 0;
    if (read(fds[0], &port, sizeof port) != sizeof port) std::exit(1);
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~NoOpProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  const std::string& address() const { return address_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  std::string address_;
};

struct Sample {
  double per_second = 0;
  double server_us = 0;  // of processor time a call
  double p50_us = 0;
  double p99_us = 0;
};

// Keeps `in_flight` calls outstanding for `duration`; each answer starts the next call.
class Load {
 public:
  // `authorization`: "Bearer epsl_...", or nothing.
  Load(v1::ChargeService::Stub& stub, pid_t server, std::string attempt,
       std::atomic<int64_t>& next_id, std::string authorization = "")
      : stub_(stub),
        server_(server),
        attempt_(std::move(attempt)),
        next_id_(next_id),
        authorization_(std::move(authorization)) {}

  Sample Run(int in_flight, std::chrono::milliseconds duration) {
    end_ = Clock::now() + duration;
    const Clock::time_point start = Clock::now();
    const double server_start = ProcessorSeconds(server_);
    running_ = in_flight;
    for (int i = 0; i < in_flight; ++i) Next();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return running_ == 0; });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double server_seconds = ProcessorSeconds(server_) - server_start;
    const double calls = static_cast<double>(latencies_us_.size());
    std::sort(latencies_us_.begin(), latencies_us_.end());
    const auto quantile = [&](double q) {
      return latencies_us_[static_cast<size_t>(q * (calls - 1))];
    };
    return {calls / seconds, 1e6 * server_seconds / calls, quantile(0.5), quantile(0.99)};
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::ChargeRequest request;
    v1::Charge reply;
    Clock::time_point start;
  };

  void Next() {
    auto call = std::make_shared<Call>();
    call->request.set_attempt(attempt_);
    call->request.set_charge_id(std::to_string(next_id_++));
    call->request.set_count(1);
    call->request.mutable_event()->mutable_gaussian()->set_noise_multiplier(1000);
    if (!authorization_.empty()) call->context.AddMetadata("authorization", authorization_);
    call->start = Clock::now();
    stub_.async()->Charge(&call->context, &call->request, &call->reply,
                          [this, call](const grpc::Status& status) { Done(*call, status); });
  }

  void Done(const Call& call, const grpc::Status& status) {
    if (!status.ok() || call.reply.decision() != v1::Charge::ACCEPTED) {
      std::fprintf(stderr, "a charge failed: %s\n", status.error_message().c_str());
      std::exit(1);
    }
    const Clock::time_point now = Clock::now();
    const bool again = now < end_;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      latencies_us_.push_back(std::chrono::duration<double, std::micro>(now - call.start).count());
      if (!again && --running_ == 0) done_.notify_all();
    }
    if (again) Next();
  }

  v1::ChargeService::Stub& stub_;
  const pid_t server_;
  const std::string attempt_;
  std::atomic<int64_t>& next_id_;
  const std::string authorization_;
  Clock::time_point end_;
  std::mutex mutex_;
  std::condition_variable done_;
  int running_ = 0;
  std::vector<double> latencies_us_;
};

// Charges a second in batches of `size`, each its own key and row; the next batch waits at the
// server while one is decided.
double BatchesPerSecond(v1::ChargeService::Stub& stub, const std::string& attempt,
                        std::atomic<int64_t>& next_id, int size,
                        std::chrono::milliseconds duration) {
  std::atomic<int64_t> charges{0};
  const Clock::time_point start = Clock::now();
  const auto work = [&] {
    while (Clock::now() < start + duration) {
      v1::BatchChargeRequest request;
      request.set_attempt(attempt);
      request.set_mode(v1::BatchChargeRequest::ALL_OR_NOTHING);
      const int64_t first = next_id.fetch_add(size);
      for (int64_t id = first; id < first + size; ++id) {
        v1::BatchChargeItem* item = request.add_items();
        item->set_charge_id(std::to_string(id));
        item->set_count(1);
        item->mutable_event()->mutable_gaussian()->set_noise_multiplier(1000);
      }
      grpc::ClientContext context;
      v1::BatchChargeResponse response;
      const grpc::Status status = stub.BatchCharge(&context, request, &response);
      if (!status.ok() || !response.results(0).has_accepted()) {
        std::fprintf(stderr, "a batch failed: %s\n", status.error_message().c_str());
        std::exit(1);
      }
      charges += size;
    }
  };
  std::thread other(work);
  work();
  other.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return static_cast<double>(charges.load()) / seconds;
}

// Charges a second over one stream, as fast as it takes them.
double StreamedPerSecond(v1::ChargeService::Stub& stub, const std::string& attempt,
                         std::atomic<int64_t>& next_id, std::chrono::milliseconds duration) {
  grpc::ClientContext context;
  const auto stream = stub.StreamCharges(&context);
  const Clock::time_point start = Clock::now();
  int64_t results = 0;
  std::thread reader([&] {
    v1::ChargeResult result;
    while (stream->Read(&result)) {
      if (!result.has_accepted()) {
        std::fprintf(stderr, "a streamed charge failed: %s\n", result.DebugString().c_str());
        std::exit(1);
      }
      ++results;
    }
  });
  v1::ChargeRequest request;
  request.set_attempt(attempt);
  request.set_count(1);
  request.mutable_event()->mutable_gaussian()->set_noise_multiplier(1000);
  while (Clock::now() < start + duration) {
    request.set_charge_id(std::to_string(next_id++));
    if (!stream->Write(request, grpc::WriteOptions().set_buffer_hint())) break;
  }
  stream->WritesDone();
  reader.join();
  if (const grpc::Status status = stream->Finish(); !status.ok()) {
    std::fprintf(stderr, "a stream failed: %s\n", status.error_message().c_str());
    std::exit(1);
  }
  return static_cast<double>(results) / std::chrono::duration<double>(Clock::now() - start).count();
}

// Processor time of a step that is taken from a lease, in nanoseconds.
double NanosecondsPerLeasedStep(const std::string& address) {
  constexpr int64_t kSteps = 1'000'000;
  absl::StatusOr<Client> client = Client::Connect({.address = address});
  absl::StatusOr<Session> session =
      client.ok()
          ? client->OpenSession(
                {.budget = "hot",
                 .session = "leased",
                 .create = NewSession{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                                      .no_own_cap = true}})
          : client.status();
  absl::StatusOr<Lease> lease =
      session.ok() ? session->AcquireLease(Mechanism::Gaussian(1000), kSteps, std::chrono::hours(1))
                   : session.status();
  if (!lease.ok()) {
    std::fprintf(stderr, "no lease: %s\n", lease.status().ToString().c_str());
    std::exit(1);
  }
  const auto processor_time = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
  };
  const double start = processor_time();
  for (int64_t i = 0; i < kSteps; ++i) {
    if (!lease->Take().ok()) std::exit(1);
  }
  return (processor_time() - start) / static_cast<double>(kSteps);
}

// Rows a second that bare SQLite writes, `size` a transaction.
double RowsPerSecond(RawRows& rows, int size, std::chrono::milliseconds duration) {
  const Clock::time_point start = Clock::now();
  const int64_t before = rows.written();
  while (Clock::now() < start + duration) rows.WriteTransaction(size);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return static_cast<double>(rows.written() - before) / seconds;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Sample Median(const std::vector<Sample>& samples) {
  std::vector<double> rates, server_times, p50s, p99s;
  for (const Sample& sample : samples) {
    rates.push_back(sample.per_second);
    server_times.push_back(sample.server_us);
    p50s.push_back(sample.p50_us);
    p99s.push_back(sample.p99_us);
  }
  return {Median(rates), Median(server_times), Median(p50s), Median(p99s)};
}

template <class Reply, class Call>
Reply Must(Call call, const std::string& authorization = "") {
  grpc::ClientContext context;
  if (!authorization.empty()) context.AddMetadata("authorization", authorization);
  Reply reply;
  const grpc::Status status = call(&context, &reply);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.error_message().c_str());
    std::exit(1);
  }
  return reply;
}

// A budget with room for every charge of the run, and an open attempt under it.
std::string MakeAttempt(const std::shared_ptr<grpc::Channel>& channel,
                        const std::string& authorization = "") {
  v1::CreateBudgetRequest budget;
  budget.set_budget_id("hot");
  budget.mutable_budget()->mutable_cap()->mutable_gaussian_dp()->set_mu(1000);
  budget.mutable_budget()->set_neighboring_relation(v1::NeighboringRelation::ADD_OR_REMOVE_ONE);
  budget.mutable_budget()->set_privacy_unit("person");
  const auto budgets = v1::BudgetService::NewStub(channel);
  Must<v1::Budget>([&](auto* c, auto* r) { return budgets->CreateBudget(c, budget, r); },
                   authorization);
  const auto sessions = v1::SessionService::NewStub(channel);
  v1::CreateSessionRequest session;
  session.set_parent("budgets/hot");
  session.set_session_id("run");
  session.mutable_session()->set_mode(v1::Session::ADAPTIVE);
  session.mutable_session()->set_neighboring_relation(v1::NeighboringRelation::ADD_OR_REMOVE_ONE);
  session.mutable_session()->set_no_own_cap(true);
  Must<v1::Session>([&](auto* c, auto* r) { return sessions->CreateSession(c, session, r); },
                    authorization);
  v1::OpenAttemptRequest open;
  open.set_session("budgets/hot/sessions/run");
  return Must<v1::Attempt>([&](auto* c, auto* r) { return sessions->OpenAttempt(c, open, r); },
                           authorization)
      .name();
}

// Where charges go, and what they are measured against.
struct Bench {
  v1::ChargeService::Stub& ledger;
  pid_t ledger_pid;
  v1::ChargeService::Stub& floor;
  pid_t floor_pid;
  std::string attempt;
  std::atomic<int64_t> next_id{0};
  int rounds;
  std::chrono::milliseconds duration;
};

void MeasureCalls(Bench& bench, int only_in_flight) {
  std::printf(
      "| in flight | no-op calls/s | server us | p50 us | p99 us | durable charges/s | server us | "
      "p50 us | p99 us | ratio |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (int in_flight : {1, 8, 64, 256}) {
    if (only_in_flight != 0 && in_flight != only_in_flight) continue;
    std::vector<Sample> of_floor, of_ledger;
    std::vector<double> ratios;
    for (int round = 0; round < bench.rounds; ++round) {
      of_floor.push_back(Load(bench.floor, bench.floor_pid, bench.attempt, bench.next_id)
                             .Run(in_flight, bench.duration));
      of_ledger.push_back(Load(bench.ledger, bench.ledger_pid, bench.attempt, bench.next_id)
                              .Run(in_flight, bench.duration));
      ratios.push_back(of_ledger.back().per_second / of_floor.back().per_second);
    }
    const Sample f = Median(of_floor);
    const Sample l = Median(of_ledger);
    std::printf("| %d | %.0f | %.1f | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f | %.2f |\n",
                in_flight, f.per_second, f.server_us, f.p50_us, f.p99_us, l.per_second, l.server_us,
                l.p50_us, l.p99_us, Median(ratios));
    std::fflush(stdout);
  }
}

void MeasureBatches(Bench& bench, RawRows& raw) {
  std::printf(
      "\n| charges a batch | bare SQLite rows/s | durable charges/s | server us | ratio "
      "|\n|---|---|---|---|---|\n");
  for (int size : {100, 1000}) {
    std::vector<double> of_raw, of_ledger, server_us, ratios;
    for (int round = 0; round < bench.rounds; ++round) {
      of_raw.push_back(RowsPerSecond(raw, size, bench.duration));
      const int64_t first = bench.next_id;
      const double start = ProcessorSeconds(bench.ledger_pid);
      of_ledger.push_back(
          BatchesPerSecond(bench.ledger, bench.attempt, bench.next_id, size, bench.duration));
      server_us.push_back(1e6 * (ProcessorSeconds(bench.ledger_pid) - start) /
                          static_cast<double>(bench.next_id - first));
      ratios.push_back(of_ledger.back() / of_raw.back());
    }
    std::printf("| %d | %.0f | %.0f | %.1f | %.2f |\n", size, Median(of_raw), Median(of_ledger),
                Median(server_us), Median(ratios));
    std::fflush(stdout);
  }
}

void MeasureStream(Bench& bench) {
  std::vector<double> of_floor, of_ledger, server_us, ratios;
  for (int round = 0; round < bench.rounds; ++round) {
    of_floor.push_back(
        StreamedPerSecond(bench.floor, bench.attempt, bench.next_id, bench.duration));
    const int64_t first = bench.next_id;
    const double start = ProcessorSeconds(bench.ledger_pid);
    of_ledger.push_back(
        StreamedPerSecond(bench.ledger, bench.attempt, bench.next_id, bench.duration));
    server_us.push_back(1e6 * (ProcessorSeconds(bench.ledger_pid) - start) /
                        static_cast<double>(bench.next_id - first));
    ratios.push_back(of_ledger.back() / of_floor.back());
  }
  std::printf(
      "\n| no-op messages/s over one stream | streamed durable charges/s | server us | ratio "
      "|\n|---|---|---|---|\n| %.0f | %.0f | %.1f | %.2f |\n",
      Median(of_floor), Median(of_ledger), Median(server_us), Median(ratios));
  std::fflush(stdout);
}

// The secret of an ADMIN's token of a ledger that no server holds.
std::string MakeToken(const std::string& data_dir) {
  const std::string command = std::string(EPSLEDGER_BINARY_DIR) +
                              "/server/epsledgerd token create --role admin --data-dir " + data_dir;
  std::string secret;
  FILE* const out = popen(command.c_str(), "r");
  char buffer[256];
  while (out != nullptr && std::fgets(buffer, sizeof buffer, out) != nullptr) secret += buffer;
  if (out == nullptr || pclose(out) != 0) std::exit(1);
  return secret.substr(0, secret.find('\n'));
}

// Two servers on the same kind of ledger, alternately.
void MeasureAccess(Bench& bench, const std::string& data_dir, int only_in_flight) {
  const std::string known_dir = data_dir + "/known";
  const std::string authorization = "Bearer " + MakeToken(known_dir);
  ServerProcess known(
      ServerProcess::Flags{{"--data-dir", known_dir, "--access-log", data_dir + "/access.jsonl"}});
  const auto channel = grpc::CreateChannel(known.address(), grpc::InsecureChannelCredentials());
  const auto stub = v1::ChargeService::NewStub(channel);
  const std::string attempt = MakeAttempt(channel, authorization);
  std::printf(
      "\n| in flight | durable charges/s | server us | with tokens and an access log | server us | "
      "ratio |\n|---|---|---|---|---|---|\n");
  for (int in_flight : {64, 256}) {
    if (only_in_flight != 0 && in_flight != only_in_flight) continue;
    std::vector<Sample> of_plain, of_known;
    std::vector<double> ratios;
    for (int round = 0; round < bench.rounds; ++round) {
      of_plain.push_back(Load(bench.ledger, bench.ledger_pid, bench.attempt, bench.next_id)
                             .Run(in_flight, bench.duration));
      of_known.push_back(Load(*stub, known.pid(), attempt, bench.next_id, authorization)
                             .Run(in_flight, bench.duration));
      ratios.push_back(of_known.back().per_second / of_plain.back().per_second);
    }
    const Sample p = Median(of_plain);
    const Sample k = Median(of_known);
    std::printf("| %d | %.0f | %.1f | %.0f | %.1f | %.2f |\n", in_flight, p.per_second, p.server_us,
                k.per_second, k.server_us, Median(ratios));
    std::fflush(stdout);
  }
}

int Main(int rounds, std::chrono::milliseconds duration, const std::string& part,
         int only_in_flight, std::string data_dir, const std::string& before) {
  const NoOpProcess no_op;
  const ScratchFolder scratch;
  if (data_dir.empty()) data_dir = scratch.path();
  ServerProcess server(ServerProcess::Flags{.flags = {"--data-dir", data_dir}, .program = before});
  if (server.address().empty()) {
    std::fprintf(stderr, "the server did not start: %s\n", server.output().c_str());
    return 1;
  }
  const auto ledger_channel =
      grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials());
  const auto ledger = v1::ChargeService::NewStub(ledger_channel);
  const auto floor = v1::ChargeService::NewStub(
      grpc::CreateChannel(no_op.address(), grpc::InsecureChannelCredentials()));
  Bench bench{.ledger = *ledger,
              .ledger_pid = server.pid(),
              .floor = *floor,
              .floor_pid = no_op.pid(),
              .attempt = MakeAttempt(ledger_channel),
              .rounds = rounds,
              .duration = duration};
  const auto wanted = [&](const char* name) { return part == "all" || part == name; };
  if (wanted("calls")) MeasureCalls(bench, only_in_flight);
  if (wanted("batches")) {
    RawRows raw(data_dir + "/raw.sqlite");
    MeasureBatches(bench, raw);
  }
  if (wanted("stream")) MeasureStream(bench);
  if (wanted("access")) MeasureAccess(bench, data_dir, only_in_flight);
  if (wanted("lease")) {
    std::printf("\nA step from a lease: %.0f ns of processor time in the client, no call.\n",
                NanosecondsPerLeasedStep(server.address()));
  }
  std::printf(
      "\nMedians of %d rounds of %lld ms; the ratio is the median of the rounds' ratios. "
      "Peak memory of the server after %lld charges and no-ops: %ld MB.\n",
      rounds, static_cast<long long>(duration.count()),
      static_cast<long long>(bench.next_id.load()), server.PeakMemoryKb() / 1024);
  return 0;
}

}  // namespace
}  // namespace epsledger

int main(int argc, char** argv) {
  int rounds = 5;
  int milliseconds = 1000;
  int in_flight = 0;
  std::string part = "all";
  std::string data_dir;
  std::string before;
  for (int i = 1; i < argc; ++i) {
    if (std::sscanf(argv[i], "--rounds=%d", &rounds) == 1 && rounds >= 1) continue;
    if (std::sscanf(argv[i], "--milliseconds=%d", &milliseconds) == 1 && milliseconds >= 1)
      continue;
    if (std::sscanf(argv[i], "--in-flight=%d", &in_flight) == 1) continue;
    if (std::strncmp(argv[i], "--part=", 7) == 0) {
      part = argv[i] + 7;
      continue;
    }
    if (std::strncmp(argv[i], "--data-dir=", 11) == 0) {
      data_dir = argv[i] + 11;
      continue;
    }
    if (std::strncmp(argv[i], "--before=", 9) == 0) {
      before = argv[i] + 9;
      continue;
    }
    std::fprintf(
        stderr,
        "usage: %s [--rounds=N] [--milliseconds=N] [--part=all|calls|batches|stream|access|lease] "
        "[--in-flight=N] [--data-dir=DIR] [--before=PATH of another epsledgerd]\n",
        argv[0]);
    return 2;
  }
  return epsledger::Main(rounds, std::chrono::milliseconds(milliseconds), part, in_flight, data_dir,
                         before);
}
