"""Something between a client and its server that loses requests and answers, or changes the answers."""
import http.client
import http.server
import json
import threading


class Interposer:
    """with Interposer("127.0.0.1:8080") as between: connect(address=between.address) ...

    between.faults holds what happens to the next calls of between.method, one each; then everything passes:
      "lose request"    the connection ends before the server hears of it
      "lose answer"     the server has answered, and the connection ends
      a function        of (HTTP status, the answer's JSON) that returns (status, body bytes)"""

    def __init__(self, target, method="ChargeService/Charge"):
        self.method = method
        self.faults = []
        self.seen = []  # the JSON of each call of the method
        between = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                fault = None
                if self.path.endswith("." + between.method):
                    between.seen.append(json.loads(body))
                    fault = between.faults.pop(0) if between.faults else None
                if fault == "lose request":
                    return self.hang_up()
                server = http.client.HTTPConnection(target, timeout=60)
                server.request("POST", self.path, body, {"content-type": "application/json"})
                response = server.getresponse()
                status, answer = response.status, response.read()
                server.close()
                if fault == "lose answer":
                    return self.hang_up()
                if fault is not None:
                    status, answer = fault(status, json.loads(answer))
                try:
                    self.send_response(status)
                    self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except ConnectionError:  # who asked has given up
                    self.hang_up()

            def hang_up(self):
                self.close_connection = True

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def address(self):
        return "http://127.0.0.1:%d" % self._server.server_address[1]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
