#include "server/transport/wire/wire_server.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ip/v6_only.hpp"
#include "boost/asio/local/stream_protocol.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "server/transport/wire/connection.h"
#include "server/transport/wire/self_probe.h"
#include "spdlog/spdlog.h"

namespace epsledger::transport::wire {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using local = asio::local::stream_protocol;

// HTTP, the ledger and the log may need this many file descriptors of the process.
constexpr size_t kOtherDescriptors = 640;
constexpr size_t kMaxConnections = 4096;
// The maximum number of strangers: each holds some tens of kilobytes.
constexpr size_t kMaxStrangers = 512;

// How often a stop checks whether calls have ended.
constexpr absl::Duration kEndedInterval = absl::Milliseconds(2);

size_t ThreadCount() { return std::clamp<size_t>(std::thread::hardware_concurrency(), 2, 8); }

// A stranger costs processor time before anything is known about it: handshakes, headers, refusals.
// This is the niceness (nice(1)) of the strangers' thread, which gives way where others want the
// processor.
constexpr int kStrangersNiceness = 10;

// Runs the strangers' thread. Between any two steps it yields the processor: otherwise a thread
// that wakes would wait until the scheduler's slice is over, some milliseconds.
void RunGivingWay(asio::io_context& context) {
  setpriority(PRIO_PROCESS, 0, kStrangersNiceness);  // this thread's alone
  while (context.run_one() > 0) std::this_thread::yield();
}

absl::Status CannotListen(const std::string& address, const std::string& why) {
  return absl::UnavailableError(absl::StrCat(address, ": cannot listen there: ", why));
}

// Removes a socket file that nobody listens on any more, because it would block the next server.
void RemoveLeftSocket(asio::io_context& context, const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return;
  local::socket probe(context);
  error_code error;
  probe.connect(local::endpoint(path), error);
  if (error == asio::error::connection_refused) unlink(path.c_str());
}

// Returns an endpoint that reaches the listener: the loopback, if it listens on all addresses.
tcp::endpoint Reachable(tcp::endpoint endpoint) {
  if (!endpoint.address().is_unspecified()) return endpoint;
  if (endpoint.address().is_v4()) {
    endpoint.address(asio::ip::address_v4::loopback());
  } else {
    endpoint.address(asio::ip::address_v6::loopback());
  }
  return endpoint;
}

}  // namespace

ConnectionLimits DefaultLimits() {
  rlimit descriptors{};
  size_t all = kMaxConnections;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    const size_t may = descriptors.rlim_cur;
    all = std::clamp<size_t>(may > 2 * kOtherDescriptors ? may - kOtherDescriptors : may / 3, 8,
                             kMaxConnections);
  }
  return {.all = all, .of_peer = all / 4, .reserved = all / 16};
}

class WireServer::State {
  // One thread's connections.
  struct Loop {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    asio::steady_timer housekeeping{context};
    bool has_ended = false;  // only its thread uses this
    std::thread thread;
  };

 public:
  State(WireOptions options, Services services)
      : options_(std::move(options)),
        shared_(std::make_shared<Shared>()),
        rates_(ConnectionRate(options_.peer_connections_per_second,
                              !options_.tls.certificate.empty())),
        counts_(DefaultLimits()) {
    shared_->services = std::move(services);
  }

  absl::Status Listen() {
    if (!options_.tls.certificate.empty()) {
      ASSIGN_OR_RETURN(RenewedTlsFiles files,
                       RenewedTlsFiles::Open(options_.tls, options_.on_reload));
      tls_files_.emplace(std::move(files));
      tls_ = ServerTls::Make(tls_files_->material(), ServerTls::Protocol::kHttp2);
      if (tls_ == nullptr) {
        return absl::InvalidArgumentError("the TLS files: OpenSSL does not take them");
      }
    }
    for (size_t i = 0; i < ThreadCount() + 1; ++i) {
      loops_.push_back(std::make_unique<Loop>());
    }
    for (const std::string& address : options_.addresses) {
      RETURN_IF_ERROR(absl::StartsWith(address, "unix:") ? ListenOnPath(address)
                                                         : ListenOnPort(address));
    }
    return absl::OkStatus();
  }

  void Run() {
    KeepHouse(*loops_[1]);
    for (const auto& loop : loops_) {
      const bool is_of_strangers = loop == loops_[0];
      loop->thread = std::thread([raw = loop.get(), is_of_strangers] {
        if (is_of_strangers) {
          RunGivingWay(raw->context);
        } else {
          raw->context.run();
        }
      });
    }
    for (auto& acceptor : tcp_acceptors_) Accept(acceptor);
    for (auto& acceptor : local_acceptors_) Accept(acceptor);
  }

  const std::vector<std::string>& addresses() const { return addresses_; }

  void GoAway() ABSL_LOCKS_EXCLUDED(mutex_) {
    StopListening();
    shared_->draining = true;
    // A thread that saw `draining` as false may still be handing over a call.
    while (shared_->starting > 0) std::this_thread::yield();
    for (const auto& connection : Connections()) connection->GoAway();
  }

  void Probe(absl::AnyInvocable<void(const absl::Status&) &&> done) ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      absl::MutexLock lock(&mutex_);
      waiting_probes_.push_back(std::move(done));
      if (waiting_probes_.size() > 1) return;  // the running probe answers for all
    }
    asio::post(loops_[1]->context, [this] {
      std::make_shared<SelfProbe>(loops_[1]->context, first_endpoint_)
          ->Start([this](const std::string& why) { AskThreads(2, why); });
    });
  }

  int64_t AwaitEnded(absl::Duration patience) {
    // Patience may be infinite, which a time_point cannot express.
    const auto now = [] { return absl::FromChrono(Clock::now().time_since_epoch()); };
    const absl::Duration give_up = now() + patience;
    while (shared_->calls > 0 && now() < give_up) absl::SleepFor(kEndedInterval);
    return shared_->calls;
  }

  void AwaitTaken(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto gone = [this]()
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return connections_.empty(); };
    mutex_.AwaitWithTimeout(absl::Condition(&gone), patience);
  }

  void Stop() ABSL_LOCKS_EXCLUDED(mutex_) {
    StopListening();
    for (const auto& connection : Connections()) connection->Close();
    for (const auto& loop : loops_) {
      asio::post(loop->context, [raw = loop.get()] {
        raw->has_ended = true;
        raw->housekeeping.cancel();
        raw->work.reset();
      });
    }
    for (const auto& loop : loops_) {
      if (loop->thread.joinable()) {
        loop->thread.join();
      } else {
        loop->context.run();  // the thread never ran
      }
    }
    for (const std::string& path : paths_) unlink(path.c_str());
  }

 private:
  struct Known {
    std::shared_ptr<Connection> connection;
    asio::ip::address peer;
  };

  absl::Status ListenOnPath(const std::string& address) {
    const std::string path(absl::StripPrefix(address, "unix:"));
    asio::io_context& context = loops_[0]->context;
    RemoveLeftSocket(context, path);
    local::acceptor acceptor(context);
    error_code error;
    acceptor.open(local(), error);
    if (!error && path.size() >= sizeof(sockaddr_un::sun_path)) error = asio::error::name_too_long;
    if (!error) acceptor.bind(local::endpoint(path), error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return CannotListen(address, error.message());
    if (addresses_.empty()) first_endpoint_ = local::endpoint(path);
    paths_.push_back(path);
    local_acceptors_.push_back(std::move(acceptor));
    addresses_.push_back(address);
    return absl::OkStatus();
  }

  absl::Status ListenOnPort(const std::string& address) {
    const size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon);
    uint32_t port = 0;
    if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) ||
        port > 65535) {
      return absl::InvalidArgumentError(
          absl::StrCat("--listen: got \"", address, "\", want host:port or unix:path"));
    }
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    if (host.empty() || host == "*") host = "::";
    error_code error;
    tcp::resolver resolver(loops_[0]->context);
    const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
    if (error) return CannotListen(address, error.message());
    // Listens on every address of a name, all on the port that the first one got.
    size_t count = 0;
    error_code first_error;
    for (const auto& entry : found) {
      tcp::endpoint endpoint = entry.endpoint();
      if (count > 0) endpoint.port(static_cast<uint16_t>(port));
      tcp::acceptor acceptor(loops_[0]->context);
      acceptor.open(endpoint.protocol(), error);
      if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
      if (!error && endpoint.protocol() == tcp::v6()) {
        error_code ignored;
        acceptor.set_option(asio::ip::v6_only(host != "::"), ignored);
      }
      if (!error) acceptor.bind(endpoint, error);
      if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
      if (error) {
        if (!first_error) first_error = error;
        continue;
      }
      port = acceptor.local_endpoint().port();
      if (addresses_.empty() && count == 0) first_endpoint_ = Reachable(acceptor.local_endpoint());
      tcp_acceptors_.push_back(std::move(acceptor));
      ++count;
    }
    // A name may have an address of a family that this machine does not have.
    if (count == 0 || first_error == asio::error::address_in_use) {
      return CannotListen(address, first_error.message());
    }
    addresses_.push_back(absl::StrCat(address.substr(0, colon), ":", port));
    return absl::OkStatus();
  }

  template <class Acceptor>
  void Accept(Acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](error_code error, auto socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (!error) Take(std::move(socket));
      if (error != asio::error::no_descriptors) return Accept(acceptor);
      // Without a descriptor the next try would fail immediately too.
      CloseOldestStranger(std::nullopt);
      auto pause =
          std::make_shared<asio::steady_timer>(loops_[0]->context, kPauseWithoutDescriptors);
      pause->async_wait([this, &acceptor, pause](error_code) {
        if (acceptor.is_open()) Accept(acceptor);
      });
    });
  }

  void Take(tcp::socket socket) {
    error_code error;
    const tcp::endpoint endpoint = socket.remote_endpoint(error);
    if (error) return;
    const asio::ip::address peer = endpoint.address();
    // Closes a connection beyond the rate before a handshake.
    if (!rates_.Take(PeerKeyOf(peer), Clock::now())) return;
    socket.set_option(tcp::no_delay(true), error);
    const bool is_local =
        peer.is_loopback() ||
        (peer.is_v6() && peer.to_v6().is_v4_mapped() &&
         asio::ip::make_address_v4(asio::ip::v4_mapped, peer.to_v6()).is_loopback());
    Add(std::move(socket), peer,
        {.is_on_this_machine = is_local,
         .address = absl::StrCat(peer.is_v6() ? "[" : "", peer.to_string(), peer.is_v6() ? "]" : "",
                                 ":", endpoint.port())});
  }

  void Take(local::socket socket) {
    Add(std::move(socket), asio::ip::address_v4::loopback(), {.is_on_this_machine = true});
  }

  void Add(Connection::Socket socket, const asio::ip::address& peer, Peer other_end)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    if (shared_->draining) return;
    std::unique_ptr<TlsSession> tls;
    if (tls_files_) {
      if (tls_files_->Reload()) {
        if (auto renewed = ServerTls::Make(tls_files_->material(), ServerTls::Protocol::kHttp2))
          tls_ = std::move(renewed);
      }
      tls = TlsSession::Make(tls_);
      if (tls == nullptr) return;
    }
    // One connection too many takes the place of the oldest stranger: of the same peer, then of
    // all.
    if (StrangerCount() >= kMaxStrangers) CloseOldestStranger(std::nullopt);
    if (!Count(peer) && !(CloseOldestStranger(peer) && Count(peer)) &&
        !(CloseOldestStranger(std::nullopt) && Count(peer))) {
      return;  // closed immediately, instead of waiting without an answer
    }
    std::shared_ptr<Connection> connection;
    {
      absl::MutexLock lock(&mutex_);
      other_end.number = ++last_number_;
      connections_.push_back({nullptr, peer});
      const auto entry = std::prev(connections_.end());
      connection = std::make_shared<Connection>(
          shared_, loops_[0]->context, [this]() -> asio::io_context& { return NextHome(); },
          std::move(socket), std::move(other_end), std::move(tls),
          [this, entry, peer] {
            std::shared_ptr<Connection> last;  // destroyed after the lock
            absl::MutexLock closing(&mutex_);
            counts_.Remove(peer);
            last = std::move(entry->connection);
            connections_.erase(entry);
          });
      entry->connection = connection;
    }
    connection->Start();
  }

  bool Count(const asio::ip::address& peer) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return counts_.Add(peer);
  }

  size_t StrangerCount() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return static_cast<size_t>(
        std::count_if(connections_.begin(), connections_.end(),
                      [](const Known& known) { return known.connection->IsStranger(); }));
  }

  // Returns false if there is no such stranger.
  bool CloseOldestStranger(const std::optional<asio::ip::address>& peer)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    std::shared_ptr<Connection> oldest;
    {
      absl::MutexLock lock(&mutex_);
      const auto find = [&](bool silent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return std::find_if(connections_.begin(), connections_.end(), [&](const Known& known) {
          return known.connection->IsStranger() && (!silent || !known.connection->HasSpoken()) &&
                 (!peer || known.peer == *peer);
        });
      };
      // Silent strangers go first: a client sends its hello immediately, and its first call later.
      auto found = find(true);
      if (found == connections_.end()) found = find(false);
      if (found == connections_.end()) return false;
      oldest = found->connection;
    }
    oldest->Close();
    return true;
  }

  std::vector<std::shared_ptr<Connection>> Connections() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    std::vector<std::shared_ptr<Connection>> all;
    for (const Known& known : connections_) all.push_back(known.connection);
    return all;
  }

  // Asks every thread for known clients, one after the other; then answers all waiting probes.
  void AskThreads(size_t next, const std::string& why) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (why.empty() && next < loops_.size()) {
      asio::post(loops_[next]->context, [this, next] { AskThreads(next + 1, ""); });
      return;
    }
    std::vector<absl::AnyInvocable<void(const absl::Status&) &&>> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting.swap(waiting_probes_);
    }
    const absl::Status status =
        why.empty() ? absl::OkStatus()
                    : absl::UnavailableError(absl::StrCat(addresses_[0], ": ", why));
    for (auto& done : waiting) std::move(done)(status);
  }

  asio::io_context& NextHome() { return loops_[1 + next_loop_++ % (loops_.size() - 1)]->context; }

  // One loop does the housekeeping for all.
  void KeepHouse(Loop& loop) {
    loop.housekeeping.expires_after(kHousekeepingInterval);
    loop.housekeeping.async_wait([this, &loop](error_code error) {
      // A timer that has expired cannot be cancelled any more, and would continue forever.
      if (error || loop.has_ended) return;
      const Clock::time_point now = Clock::now();
      for (const auto& connection : Connections()) connection->KeepHouse(now);
      KeepHouse(loop);
    });
  }

  void StopListening() {
    if (std::exchange(stopped_, true)) return;
    const auto close = [this] {
      error_code ignored;
      for (auto& acceptor : tcp_acceptors_) acceptor.close(ignored);
      for (auto& acceptor : local_acceptors_) acceptor.close(ignored);
    };
    if (loops_.empty() || !loops_[0]->thread.joinable()) return close();
    std::promise<void> closed;
    asio::post(loops_[0]->context, [&] {
      close();
      closed.set_value();
    });
    closed.get_future().wait();
  }

  const WireOptions options_;
  const std::shared_ptr<Shared> shared_;
  std::vector<std::string> addresses_;
  asio::generic::stream_protocol::endpoint first_endpoint_;  // as this machine reaches it
  std::vector<std::string> paths_;                           // of sockets, removed at the end
  // Only the first loop's thread uses these.
  std::optional<RenewedTlsFiles> tls_files_;
  std::shared_ptr<ServerTls> tls_;
  bool stopped_ = false;

  // The first loop is for strangers; it also accepts all sockets.

  std::vector<std::unique_ptr<Loop>> loops_;
  std::atomic<size_t> next_loop_{0};
  std::list<tcp::acceptor> tcp_acceptors_;
  std::list<local::acceptor> local_acceptors_;

  absl::Mutex mutex_;
  RateLimiter rates_;  // used by the accepting thread
  ConnectionCounts counts_ ABSL_GUARDED_BY(mutex_);
  std::list<Known> connections_ ABSL_GUARDED_BY(mutex_);  // oldest first
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;      // of a connection
  std::vector<absl::AnyInvocable<void(const absl::Status&) &&>> waiting_probes_
      ABSL_GUARDED_BY(mutex_);
};

WireServer::WireServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<WireServer>> WireServer::Start(WireOptions options,
                                                              Services services) {
  std::unique_ptr<WireServer> server(
      new WireServer(std::make_unique<State>(std::move(options), std::move(services))));
  RETURN_IF_ERROR(server->state_->Listen());
  server->state_->Run();
  return server;
}

WireServer::~WireServer() { state_->Stop(); }

const std::vector<std::string>& WireServer::addresses() const { return state_->addresses(); }

void WireServer::GoAway() { state_->GoAway(); }

void WireServer::Probe(absl::AnyInvocable<void(const absl::Status&) &&> done) {
  state_->Probe(std::move(done));
}

int64_t WireServer::AwaitEnded(absl::Duration patience) { return state_->AwaitEnded(patience); }

void WireServer::AwaitTaken(absl::Duration patience) { state_->AwaitTaken(patience); }

}  // namespace epsledger::transport::wire
