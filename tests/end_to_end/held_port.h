#ifndef EPSLEDGER_TESTS_END_TO_END_HELD_PORT_H_
#define EPSLEDGER_TESTS_END_TO_END_HELD_PORT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace epsledger {

// A free port of 127.0.0.1 that nobody else gets while this object lives, also between two starts
// of the server that listens on it. The object binds the port and never listens. The kernel still
// lets a server listen on it that sets SO_REUSEADDR, as PostgreSQL, gRPC and Boost do.
class HeldPort {
 public:
  HeldPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const int on = 1;
    if (fd_ >= 0 && bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        // Not before bind(), or two objects could get the same port.
        setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0) {
      number_ = ntohs(address.sin_port);
    }
  }
  ~HeldPort() {
    if (fd_ >= 0) close(fd_);
  }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;

  // Returns the port. If there is none, returns 0, and errno says why.
  int number() const { return number_; }

 private:
  const int fd_;
  int number_ = 0;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_END_TO_END_HELD_PORT_H_
