"""A ledger that says what a script says: the server of the conformance set.

It answers each call with the next entry of the script, checks what a client may never vary (one key a charge, the same
bytes at every try, the newest head), and remembers every difference in `complaints`. Clients reach it through a relay
that can cut their connections.
"""
import base64
import concurrent.futures
import pathlib
import socket
import struct
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

DESCRIPTORS = pathlib.Path(__file__).parents[2] / "client" / "python" / "epsledger" / "descriptor_set.binpb"
CHARGING = ("Charge", "AcquireLease")
GARBAGE = b"\xff\xff\xff\xff"  # no message
KEYS = {"Charge": "chargeId", "AcquireLease": "leaseId"}


class Messages:
    """The messages of the API, by name."""

    def __init__(self):
        files = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes())
        self._pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            self._pool.AddSerializedFile(file.SerializeToString())
        self.methods = {}
        for file in files.file:
            for service in file.service:
                for method in service.method:
                    full = "/%s.%s/%s" % (file.package, service.name, method.name)
                    self.methods[full] = (method.input_type.lstrip("."), method.output_type.lstrip("."))

    def of(self, name):
        descriptor = self._pool.FindMessageTypeByName(name)
        if hasattr(message_factory, "GetMessageClass"):
            return message_factory.GetMessageClass(descriptor)
        return message_factory.MessageFactory(self._pool).GetPrototype(descriptor)

    def to_json(self, name, data):
        return json_format.MessageToDict(self.of(name).FromString(data))

    def to_bytes(self, name, json):
        return json_format.ParseDict(json, self.of(name)()).SerializeToString()


class Script:
    """What the server says to one step of an exchange, and what it saw."""

    def __init__(self, session, entries, key=None):
        self.session = session
        self.entries = list(entries)
        self.key = key  # a retried charge has the key that it had
        self.seen = []  # (method, request JSON)
        self.complaints = []

    def next_entry(self, method, request):
        """Returns the entry for this call; None, with a complaint, if the script has none."""
        while self.entries and self.entries[0].get("times") == "any" and self.entries[0]["call"] != method:
            self.entries.pop(0)
        if not self.entries or self.entries[0]["call"] != method:
            self.complaints.append("%s was called, want %s" % (
                method, self.entries[0]["call"] if self.entries else "no more calls"))
            return None
        entry = self.entries[0] if self.entries[0].get("times") == "any" else self.entries.pop(0)
        if method in KEYS:
            self._check_key(method, request)
        if "head" in entry and request.get("lastSeenHead") != entry["head"]:
            self.complaints.append("lastSeenHead of %s: got %r, want %r" % (
                method, request.get("lastSeenHead"), entry["head"]))
        for field, want in entry.get("request", {}).items():
            if request.get(field) != want:
                self.complaints.append("%s of %s: got %r, want %r" % (field, method, request.get(field), want))
        return entry

    def _check_key(self, method, request):
        key = request.get(KEYS[method], "")
        if self.key is None:
            self.key = key
        if key != self.key:
            self.complaints.append("the key of %s: got %r, want %r" % (method, key, self.key))
        before = [old for name, old in self.seen if name == method]
        if before and before[0] != request:
            self.complaints.append("a try of one charge: got %r, want %r as before" % (request, before[0]))

    def end(self):
        """Returns all complaints, also that a call is missing."""
        left = [entry["call"] for entry in self.entries if entry.get("times") != "any"]
        return self.complaints + ["%s was not called" % call for call in left]


def filled(value, request):
    """Returns the JSON with "$charge", "$event", ... replaced by what the request says."""
    if isinstance(value, dict):
        return {name: filled(inner, request) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, request) for inner in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    word, slash, rest = value.partition("/")
    attempt, key = request.get("attempt", ""), request.get("chargeId") or request.get("leaseId", "")
    known = {"$attempt": attempt, "$session": request.get("session") or attempt.split("/attempts/")[0],
             "$charge": "%s/charges/%s" % (attempt, key), "$lease": request.get("name", "%s/leases/%s" % (attempt, key)),
             "$event": request.get("event"), "$count": request.get("count")}
    return known[word] + slash + rest if slash else known[word]


class ScriptedServer(grpc.GenericRpcHandler):
    """Serves on loopback. `script` is replaced for each step. Thread-safe."""

    def __init__(self):
        self._messages = Messages()
        self._lock = threading.Lock()
        self.script = Script("", [])
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=32))
        self._server.add_generic_rpc_handlers((self,))
        port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()
        self._relay = Relay(port)
        self.address = "127.0.0.1:%d" % self._relay.port

    def stop(self):
        self._relay.stop()
        self._server.stop(None)

    def event_bytes(self, event):
        """The event as base64 of its bytes, for clients without proto3 JSON."""
        return base64.b64encode(self._messages.to_bytes("epsledger.v1.MechanismEvent", event)).decode()

    def service(self, handler_call_details):
        path = handler_call_details.method
        if path not in self._messages.methods:
            return None
        return grpc.unary_stream_rpc_method_handler(lambda data, context: self._answer(path, data, context))

    def _answer(self, path, data, context):
        takes, gives = self._messages.methods[path]
        method, request = path.rsplit("/", 1)[-1], self._messages.to_json(takes, data)
        if method == "GetServerInfo":
            yield b""
            return
        if method == "GetSession":
            yield self._messages.to_bytes(gives, {"name": request["name"], "mode": "ADAPTIVE",
                                                  "neighboringRelation": "ADD_OR_REMOVE_ONE", "noOwnCap": True})
            return
        with self._lock:
            script = self.script
            named = request.get("attempt") or request.get("session") or request.get("name", "")
            if not named.startswith(script.session):  # the end of an earlier exchange
                context.abort(grpc.StatusCode.UNAVAILABLE, "another exchange is played")
            if context.time_remaining() is None or context.time_remaining() > 3600:
                script.complaints.append("%s has no deadline" % method)
            entry = script.next_entry(method, request)
            script.seen.append((method, request))
        if entry is None:
            context.abort(grpc.StatusCode.INTERNAL, "the script has no such call")
        yield from self._play(entry, gives, request, context)

    def _play(self, entry, gives, request, context):
        fault = entry.get("fault")
        if fault == "silent":  # until the client gives up
            gone = threading.Event()
            if context.add_callback(gone.set):
                gone.wait()
            return
        if fault == "cut":
            self._relay.cut()
            return
        if "fail" in entry:
            self._fail(filled(entry["fail"], request), context, GARBAGE if fault == "garbage" else None)
        if fault == "no message":
            return
        if fault == "garbage":
            yield GARBAGE
            return
        reply = filled(entry["reply"], request)
        if fault == "large":  # most libraries read 4 MiB
            reply["eventDescription"] = "x" * (5 << 20)
        answer = self._messages.to_bytes(gives, reply)
        yield answer
        if fault == "twice":
            yield answer
        if "then" in entry:
            self._fail(entry["then"], context)

    def _fail(self, fail, context, details=None):
        code = getattr(grpc.StatusCode, fail["code"])
        if details is None and "details_bytes" in fail:
            details = base64.b64decode(fail["details_bytes"])
        if details is not None:
            context.set_trailing_metadata((("grpc-status-details-bin", details),))
        elif fail.get("details"):
            status = {"code": code.value[0], "message": fail["message"]}
            message = self._messages.of("google.rpc.Status")(**status)
            for detail in fail["details"]:
                value = (base64.b64decode(detail["bytes"]) if "bytes" in detail
                         else self._messages.to_bytes(detail["type"], detail["value"]))
                message.details.add(type_url="type.googleapis.com/" + detail["type"], value=value)
            context.set_trailing_metadata((("grpc-status-details-bin", message.SerializeToString()),))
        context.abort(code, fail["message"])


class Relay:
    """Passes bytes between clients and the server, until it cuts every connection that is open."""

    def __init__(self, target):
        self._target = target
        self._lock = threading.Lock()
        self._open = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Resets all connections."""
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the other side was faster
            end.close()

    def stop(self):
        self._listener.close()
        self.cut()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            with self._lock:
                self._open |= {client, server}
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source, sink):
        try:
            while True:
                data = source.recv(1 << 16)
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        with self._lock:
            self._open -= {source, sink}
        for end in (source, sink):
            end.close()
