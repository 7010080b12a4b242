"""HTTP/2 as an attacker writes it: frames byte by byte, without a library that would keep to the rules."""
import select
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value, index=False):
    """A header of HPACK whose name and value are written out; `index`: into the table of both ends."""
    def text(data):
        assert len(data) < 127 + 128
        return (bytes([len(data)]) if len(data) < 127 else bytes([127, len(data) - 127])) + data
    return bytes([0x40 if index else 0]) + text(name) + text(value)


def call_headers(path, more=()):
    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"a"),
              (b"content-type", b"application/grpc"), (b"te", b"trailers"), *more]
    return b"".join(literal(name, value) for name, value in fields)


def message(payload, length=None, compressed=0):
    """A message of gRPC, with the length that it has or another one."""
    return bytes([compressed]) + struct.pack(">I", len(payload) if length is None else length) + payload


def connect(address):
    """From another address of this machine than that of clients: a peer is an address."""
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=30, source_address=("127.0.0.2", 0))


class RawConnection:
    """A connection that takes part in HTTP/2 as far as it is told to."""

    def __init__(self, address, acknowledge=True, settings=b""):
        self.socket = connect(address)
        self._read = b""
        self.next_stream = 1
        # The server may have ended it already: then nothing that is sent arrives.
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings) + (frame(SETTINGS, ACK, 0) if acknowledge else b""))

    def send(self, data):
        """False once the server has ended the connection."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def drain(self):
        """Reads and forgets what has come. False once the server has ended the connection."""
        try:
            while select.select([self.socket], [], [], 0)[0]:
                if not self.socket.recv(1 << 16):
                    return False
            return True
        except OSError:
            return False

    def frames(self, seconds):
        """The frames that come, until none comes for so long or the connection ends."""
        self.socket.settimeout(seconds)
        while True:
            while len(self._read) < 9 or len(self._read) < 9 + int.from_bytes(self._read[:3], "big"):
                try:
                    more = self.socket.recv(1 << 16)
                except OSError:
                    return
                if not more:
                    return
                self._read += more
            length = int.from_bytes(self._read[:3], "big")
            kind, flags = self._read[3], self._read[4]
            stream = int.from_bytes(self._read[5:9], "big") & 0x7fffffff
            payload, self._read = self._read[9:9 + length], self._read[9 + length:]
            yield kind, flags, stream, payload

    def stream(self):
        self.next_stream += 2
        return self.next_stream - 2

    def close(self):
        self.socket.close()
