"""An address of this machine at which packets are lost, as behind a firewall that drops them."""
import socket

_MOST_CONNECTIONS = 64
_SECONDS_FOR_A_CONNECTION = 0.2


class BlackHole:
    """with BlackHole() as hole: connect(address="http://" + hole.address) ... No connection to it is ever made: its
    backlog is full, and the kernel drops what asks for one more."""

    def __enter__(self):
        self._waiting = []
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        port = self._listener.getsockname()[1]
        self.address = "127.0.0.1:%d" % port
        try:
            for _ in range(_MOST_CONNECTIONS):
                self._waiting.append(socket.create_connection(("127.0.0.1", port), _SECONDS_FOR_A_CONNECTION))
        except socket.timeout:
            return self
        self.__exit__()
        raise RuntimeError("%d connections, and the backlog is not full" % _MOST_CONNECTIONS)

    def __exit__(self, *_):
        for connection in (self._listener, *self._waiting):
            connection.close()
