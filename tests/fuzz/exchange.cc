#include "tests/fuzz/exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace epsledger::fuzz {
namespace {

constexpr int kPatienceMs = 180'000;

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  std::abort();
}

int Connect(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + address.rfind(':') + 1)));
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    Fail("connect");
  }
  return connection;
}

}  // namespace

std::string Exchange(const std::string& address, std::string_view bytes) {
  const int connection = Connect(address);
  std::string answer;
  bool more_to_send = true;
  for (;;) {
    if (more_to_send && bytes.empty()) {
      shutdown(connection, SHUT_WR);
      more_to_send = false;
    }
    pollfd ready{.fd = connection,
                 .events = static_cast<short>(POLLIN | (more_to_send ? POLLOUT : 0)),
                 .revents = 0};
    if (poll(&ready, 1, kPatienceMs) <= 0) Fail("the server hangs");
    if ((ready.revents & POLLOUT) != 0) {
      const ssize_t sent =
          send(connection, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      // A server that has heard enough closes, which shows when it is read from.
      bytes.remove_prefix(sent > 0          ? static_cast<size_t>(sent)
                          : errno == EAGAIN ? 0
                                            : bytes.size());
    }
    if ((ready.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    char buffer[16384];
    const ssize_t got = recv(connection, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0) {
      answer.append(buffer, static_cast<size_t>(got));
    } else if (got == 0 || errno != EAGAIN) {
      break;
    }
  }
  close(connection);
  return answer;
}

}  // namespace epsledger::fuzz
