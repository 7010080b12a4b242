#include "client/cli/reach/server_probe.h"

#include <netdb.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace epsledger::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kAnswerPatience{2'000};

// A socket that is closed in the end.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Returns whether the event comes in time.
bool Await(const Socket& socket, short event, steady_clock::time_point deadline) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()).count();
    pollfd waited = {.fd = socket.descriptor(), .events = event, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::max<int64_t>(0, left)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

absl::Status NoConnection(int error) { return absl::UnavailableError(std::strerror(error)); }

absl::StatusOr<Socket> ConnectTo(int family, const sockaddr* address, socklen_t size,
                                 steady_clock::time_point deadline) {
  Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.descriptor() < 0) return NoConnection(errno);
  if (connect(socket.descriptor(), address, size) == 0) return socket;
  if (errno != EINPROGRESS) return NoConnection(errno);
  if (!Await(socket, POLLOUT, deadline)) return NoConnection(ETIMEDOUT);
  int error = 0;
  socklen_t error_size = sizeof(error);
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &error_size);
  if (error != 0) return NoConnection(error);
  return socket;
}

absl::StatusOr<Socket> ConnectToPath(const std::string& path, steady_clock::time_point deadline) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return NoConnection(ENAMETOOLONG);
  std::memcpy(address.sun_path, path.data(), path.size());
  const size_t size = offsetof(sockaddr_un, sun_path) + path.size() + (path[0] == '\0' ? 0 : 1);
  return ConnectTo(AF_UNIX, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(size), deadline);
}

// Returns a connection to the first address of the host that takes one.
absl::StatusOr<Socket> ConnectToServer(const ServerAddress& address,
                                       steady_clock::time_point deadline) {
  if (address.kind == ServerAddress::Kind::kUnix) return ConnectToPath(address.path, deadline);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (failed != 0) return absl::UnavailableError(gai_strerror(failed));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  absl::Status last = absl::UnavailableError("the name has no address");
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    absl::StatusOr<Socket> socket =
        ConnectTo(one->ai_family, one->ai_addr, one->ai_addrlen, deadline);
    if (socket.ok()) return socket;
    last = socket.status();
  }
  return last;
}

// The connection preface of HTTP/2 and an empty SETTINGS frame (RFC 9113, 3.4 and 6.5).
std::string Http2Greeting() {
  return absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", std::string("\0\0\0\4\0\0\0\0\0", 9));
}

// The ClientHello of TLS; empty if it cannot be made.
std::string TlsGreeting(const ServerAddress& address) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  if (context == nullptr) return "";
  const std::unique_ptr<SSL, void (*)(SSL*)> tls(SSL_new(context.get()), SSL_free);
  if (tls == nullptr) return "";
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(tls.get(), in, out);  // which it owns from then on
  if (in == nullptr || out == nullptr) return "";
  if (address.kind == ServerAddress::Kind::kHost) {
    SSL_set_tlsext_host_name(tls.get(), address.host.c_str());
  }
  constexpr unsigned char kHttp2Protocol[] = {2, 'h', '2'};
  SSL_set_alpn_protos(tls.get(), kHttp2Protocol, sizeof(kHttp2Protocol));
  SSL_set_connect_state(tls.get());
  SSL_do_handshake(tls.get());  // writes the greeting and waits for an answer
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out, &bytes);
  return size > 0 ? std::string(bytes, static_cast<size_t>(size)) : "";
}

struct Heard {
  Speech speech = Speech::kUnknown;
  bool was_closed = false;  // without a word that tells
};

// Returns what the first bytes of a server tell: a SETTINGS frame of HTTP/2, a record of TLS, or a
// status line of HTTP/1.
Speech SpeechOf(const std::string& bytes) {
  if (bytes.starts_with("HTTP/1.")) return Speech::kHttp1;
  const bool is_record = bytes.size() >= 2 && bytes[1] == 3;
  if (is_record && (bytes[0] == 0x15 || bytes[0] == 0x16)) return Speech::kTls;
  constexpr char kSettings = 4;
  const bool is_frame =
      bytes.size() >= 9 && bytes[3] == kSettings && bytes.substr(5, 4) == std::string(4, '\0');
  return is_frame ? Speech::kHttp2 : Speech::kUnknown;
}

absl::StatusOr<Heard> Greet(const ServerAddress& address, const std::string& greeting,
                            steady_clock::time_point deadline) {
  absl::StatusOr<Socket> socket = ConnectToServer(address, deadline);
  if (!socket.ok()) return socket.status();
  Heard heard;
  if (send(socket->descriptor(), greeting.data(), greeting.size(), MSG_NOSIGNAL) < 0) {
    heard.was_closed = true;
    return heard;
  }
  const auto end = std::min(deadline, steady_clock::now() + kAnswerPatience);
  std::string bytes;
  while (bytes.size() < 9 && heard.speech == Speech::kUnknown) {
    char buffer[64];
    if (!Await(*socket, POLLIN, end)) return heard;
    const ssize_t size = recv(socket->descriptor(), buffer, sizeof(buffer), 0);
    if (size <= 0) {
      heard.was_closed = true;
      return heard;
    }
    bytes.append(buffer, static_cast<size_t>(size));
    heard.speech = SpeechOf(bytes);
  }
  return heard;
}

}  // namespace

absl::StatusOr<Speech> ProbeServer(const ServerAddress& address, bool with_tls,
                                   milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  const absl::StatusOr<Heard> first =
      Greet(address, with_tls ? TlsGreeting(address) : Http2Greeting(), deadline);
  if (!first.ok()) return first.status();
  if (!first->was_closed) return first->speech;
  // It hung up on this greeting: perhaps the other one gets an answer.
  const absl::StatusOr<Heard> second =
      Greet(address, with_tls ? Http2Greeting() : TlsGreeting(address), deadline);
  return second.ok() ? second->speech : Speech::kUnknown;
}

absl::Status CheckSpeech(Speech speech, bool with_tls, const std::string& server) {
  switch (speech) {
    case Speech::kHttp1:
      return absl::InvalidArgumentError(absl::StrCat(
          "--server: ", server,
          " speaks HTTP/1, as the HTTP address of a server does (its --http-listen); give its gRPC "
          "address (its --listen, usually port 50551)."));
    case Speech::kTls:
      if (with_tls) break;
      return absl::InvalidArgumentError(absl::StrCat(
          "--tls: ", server,
          " speaks TLS; add --tls, or --tls-ca FILE if the system's authorities do not "
          "know its certificate."));
    case Speech::kHttp2:
      if (!with_tls) break;
      return absl::InvalidArgumentError(
          absl::StrCat("--tls: ", server,
                       " speaks plaintext; leave out --tls, --tls-ca, --tls-cert and --tls-key."));
    case Speech::kUnknown:
      break;
  }
  return absl::OkStatus();
}

}  // namespace epsledger::cli
