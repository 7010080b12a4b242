"""Calls over gRPC: the extra epsledger[grpc]. Messages are built at run time from descriptor_set.binpb."""
from __future__ import annotations

import importlib
import pathlib
import time
from typing import Any, Callable, Dict, Generator, List, Tuple

from .address import Address
from .errors import WrongProcess, invalid
from .process import SurvivesFork
from .transport import Json, RpcError

# As over HTTP: a server that is there takes a connection much sooner.
_MOST_CONNECT_SECONDS = 5.0

_OPTIONS = (
    ("grpc.enable_retries", 0),  # Retry alone decides the number of tries
    ("grpc.initial_reconnect_backoff_ms", 100),  # reconnects to a restarted server within two seconds
    ("grpc.min_reconnect_backoff_ms", 10_000),  # how long one attempt to connect may take
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
)
# A proxy from the environment would carry a local connection off the machine in plaintext.
_PLAINTEXT_OPTIONS = (("grpc.enable_http_proxy", 0),)


class GrpcTransport(SurvivesFork):
    """One channel. gRPC does not survive a fork: a child that calls gets WrongProcess, and must be spawned or use the
    HTTP transport."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        try:
            self._grpc: Any = importlib.import_module("grpc")
            self._messages = _Messages()
        except ImportError as error:
            raise invalid("transport", "grpc", "\"http\", or the packages of epsledger[grpc]: %s" % error) from None
        self._address = address
        self._metadata = (("authorization", "Bearer " + address.token),) if address.token else ()
        self._methods: Dict[str, Callable[..., Any]] = {}
        self._forked = False
        # The server has answered, and the channel has not failed since.
        self._connected = False
        self._why_not = ""  # how the last try to connect failed
        if address.tls is None:
            self._channel = self._grpc.insecure_channel(address.target, options=_OPTIONS + _PLAINTEXT_OPTIONS)
        else:
            address.tls.context()  # names a file that cannot be read
            files = [None if path is None else pathlib.Path(path).read_bytes()
                     for path in (address.tls.ca, address.tls.key, address.tls.cert)]
            self._channel = self._grpc.secure_channel(
                address.target, self._grpc.ssl_channel_credentials(*files), options=_OPTIONS)

    @property
    def address(self) -> str:
        return self._address.target

    def call(self, method: str, request: Json, timeout: float) -> Json:
        self._check_not_forked()
        bound, message = self._method(method), self._messages.request(method, request)
        deadline = time.monotonic() + timeout
        if not self._connected:
            self._connect(min(timeout, _MOST_CONNECT_SECONDS))
        try:
            answer = bound(message, timeout=max(deadline - time.monotonic(), 0), metadata=self._metadata)
        except self._grpc.RpcError as error:
            raise self._failure(error) from None
        if answer is None:
            raise RpcError("INTERNAL", "the answer is OK and has no message")
        return self._messages.to_json(answer)

    def watch(self, resource: str, after: int, timeout: float,
              ends_by: Callable[[Callable[[], None]], None]) -> Generator[Json, None, None]:
        self._check_not_forked()
        method = "SessionService/WatchSession" if "/sessions/" in resource else "BudgetService/WatchBudget"
        if not self._connected:
            self._connect(min(timeout, _MOST_CONNECT_SECONDS))
        stream = self._messages.bind_stream(self._channel, method)(
            self._messages.request(method, {"name": resource, "afterSequence": str(after)}), metadata=self._metadata)
        ends_by(stream.cancel)
        try:
            yield {}
            for change in stream:
                yield self._messages.to_json(change)
        except self._grpc.RpcError as error:
            raise self._failure(error) from None
        finally:
            stream.cancel()

    def _check_not_forked(self) -> None:
        if self._forked:
            raise WrongProcess("gRPC does not survive a fork: start the process with multiprocessing's \"spawn\", or "
                               "connect() with transport \"http\"")

    def _failure(self, error: Any) -> RpcError:
        if error.code().name == "UNAVAILABLE":
            self._connected, self._why_not = False, error.details() or "no connection"
        return RpcError(error.code().name, error.details() or "", self._details(error))

    def _connect(self, timeout: float) -> None:
        """Returns once the server has answered a call that changes nothing. If it does not, the try ends here: the
        call that it was for is not started.

        gRPC does not say of a call that failed whether it was sent, so this one goes first. After a failure it waits
        for the connection, since an idle channel makes a new one only now and then."""
        probe = self._method("ServerService/GetServerInfo")
        try:
            probe(self._messages.request("ServerService/GetServerInfo", {}), timeout=timeout, metadata=self._metadata,
                  wait_for_ready=bool(self._why_not))
        except self._grpc.RpcError as error:
            code = error.code().name
            if code == "UNAVAILABLE":
                self._why_not = error.details() or "no connection"
                raise RpcError(code, self._why_not, self._details(error), never_sent=True) from None
            if code in ("DEADLINE_EXCEEDED", "CANCELLED"):
                raise RpcError("UNAVAILABLE", "no answer in %.3g s%s" % (
                    timeout, ": " + self._why_not if self._why_not else ""), never_sent=True) from None
        self._connected, self._why_not = True, ""

    def _method(self, name: str) -> Callable[..., Any]:
        if name not in self._methods:
            self._methods[name] = self._messages.bind(self._channel, name)
        return self._methods[name]

    def close(self) -> None:
        if not self._forked:
            self._channel.close()

    def _after_fork(self) -> None:
        self._forked = True

    def _details(self, error: Any) -> List[Tuple[str, Json]]:
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                return self._messages.read_details(value)
        return []


class _Messages:
    """The messages of epsledger.v1, in their own descriptor pool, so that they do not clash with others of the
    process."""

    def __init__(self) -> None:
        pools: Any = importlib.import_module("google.protobuf.descriptor_pool")
        descriptors: Any = importlib.import_module("google.protobuf.descriptor_pb2")
        self._factory: Any = importlib.import_module("google.protobuf.message_factory")
        self._json: Any = importlib.import_module("google.protobuf.json_format")
        decode_error: Any = importlib.import_module("google.protobuf.message").DecodeError
        self._unreadable = (decode_error, self._json.Error, ValueError)
        files = descriptors.FileDescriptorSet.FromString(
            pathlib.Path(__file__).with_name("descriptor_set.binpb").read_bytes())
        self._pool = pools.DescriptorPool()
        for file in files.file:
            self._pool.AddSerializedFile(file.SerializeToString())

    def bind(self, channel: Any, method: str) -> Callable[..., Any]:
        """Returns the function that calls "ChargeService/Charge"."""
        return self._bound(channel.unary_unary, method)

    def bind_stream(self, channel: Any, method: str) -> Callable[..., Any]:
        """The same for "BudgetService/WatchBudget": the function returns the iterator of the answers."""
        return self._bound(channel.unary_stream, method)

    def _bound(self, make: Callable[..., Any], method: str) -> Callable[..., Any]:
        answer = self._class(self._descriptor(method).output_type)
        bound: Callable[..., Any] = make(
            "/epsledger.v1." + method, request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString)
        return bound

    def request(self, method: str, request: Json) -> Any:
        """Returns the request as a message. InvalidArgument if it is not the JSON of the method's request."""
        kind = self._descriptor(method).input_type
        try:
            return self._json.ParseDict(request, self._class(kind)())
        except self._json.ParseError as error:
            raise RpcError("INVALID_ARGUMENT",
                           "the request is not the JSON of %s: %s" % (kind.full_name, error)) from None

    def to_json(self, message: Any) -> Json:
        json: Json = self._json.MessageToDict(message)
        return json

    def read_details(self, status_bytes: bytes) -> List[Tuple[str, Json]]:
        """Returns the details of a google.rpc.Status whose types are in the descriptor set. What cannot be read is none."""
        try:
            status = self._class(self._pool.FindMessageTypeByName("google.rpc.Status")).FromString(status_bytes)
        except self._unreadable:
            return []
        details = []
        for detail in status.details:
            name = detail.type_url.rsplit("/", 1)[-1]
            try:
                kind = self._pool.FindMessageTypeByName(name)
                details.append((name, self.to_json(self._class(kind).FromString(detail.value))))
            except (KeyError, *self._unreadable):
                continue
        return details

    def _descriptor(self, method: str) -> Any:
        service, _, name = method.partition("/")
        try:
            return self._pool.FindServiceByName("epsledger.v1." + service).methods_by_name[name]
        except KeyError:
            raise RpcError("UNIMPLEMENTED", "there is no method %s" % method) from None

    def _class(self, descriptor: Any) -> Any:
        if hasattr(self._factory, "GetMessageClass"):
            return self._factory.GetMessageClass(descriptor)
        return self._factory.MessageFactory(self._pool).GetPrototype(descriptor)  # protobuf before 4.22
