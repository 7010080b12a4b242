"""Receivers of alerts on loopback, for tests in Python: an HTTP server and a mail server that say no at first."""
import hashlib
import hmac
import http.server
import json
import socketserver
import ssl
import threading

PATIENCE_SECONDS = 60


class _Receiver:
    """Takes what is sent, after it has refused the first `refusals` tries."""

    def __init__(self, refusals=0):
        self._changed = threading.Condition()
        self._refusals = refusals
        self.refused = []
        self.taken = []

    def take(self, one):
        """True if it is taken."""
        with self._changed:
            taken = self._refusals <= 0
            self._refusals -= 1
            (self.taken if taken else self.refused).append(one)
            self._changed.notify_all()
            return taken

    def refuse(self, count):
        with self._changed:
            self._refusals = count

    def wait_for(self, condition, what):
        with self._changed:
            if not self._changed.wait_for(condition, PATIENCE_SECONDS):
                raise AssertionError("%s: taken %s, refused %s" % (what, self.taken, self.refused))

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def _serve(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


class WebhookReceiver(_Receiver):
    """Verifies each signature before it looks at the body. `certificate`: a (certificate, key) of PEM files, for TLS."""

    def __init__(self, secret, refusals=0, certificate=None):
        super().__init__(refusals)
        self._secret = secret
        self._certificate = certificate
        self.unsigned = 0
        self.last = None  # header and body

    def verify(self, header, body):
        parts = dict(part.split("=", 1) for part in header.split(","))
        signed = parts["t"].encode() + b"." + body
        return hmac.compare_digest(hmac.new(self._secret, signed, hashlib.sha256).hexdigest(), parts["v1"])

    def __enter__(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802  the name that http.server calls
                body = self.rfile.read(int(self.headers["content-length"]))
                header = self.headers.get("epsledger-signature", "t=0,v1=")
                receiver.last = (header, body)
                if not receiver.verify(header, body):
                    receiver.unsigned += 1
                alert = json.loads(body)
                alert["key"] = self.headers["idempotency-key"]
                self.send_response(204 if receiver.take(alert) else 503)
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if self._certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = "%s://127.0.0.1:%d/alerts" % ("https" if self._certificate else "http", self._server.server_port)
        self._serve()
        return self


class MailReceiver(_Receiver):
    """Speaks as much SMTP (RFC 5321) as a sender needs. Keeps (sender, recipients, message)."""

    def __enter__(self):
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def say(self, line):
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self):
                self.say("220 ready")
                sender, recipients = None, []
                for line in iter(self.rfile.readline, b""):
                    words = line.decode().strip()
                    verb = words[:4].upper()
                    if verb == "MAIL":
                        sender = words.split(":", 1)[1].split()[0]
                        recipients = []
                        self.say("250 ok")
                    elif verb == "RCPT":
                        recipients.append(words.split(":", 1)[1].split()[0])
                        self.say("250 ok")
                    elif verb == "DATA":
                        self.say("354 go on")
                        message = b""
                        for part in iter(self.rfile.readline, b".\r\n"):
                            message += part[1:] if part.startswith(b".") else part
                        taken = receiver.take((sender, recipients, message))
                        self.say("250 taken" if taken else "451 not now")
                    elif verb == "QUIT":
                        self.say("221 bye")
                        return
                    else:
                        self.say("250 ok")

        socketserver.ThreadingTCPServer.daemon_threads = True
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.url = "smtp://127.0.0.1:%d" % self._server.server_address[1]
        self._serve()
        return self
