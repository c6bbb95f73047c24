"""service.py PORT NGINX_PORT: what stands behind nginx in W3C's suite. It knows nothing of traces: it passes both headers on as they
came, with each request that the suite asks for, through nginx."""

import http.client
import http.server
import json
import sys
import urllib.parse

NAMES = ("traceparent", "tracestate")


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        for action in json.loads(self.rfile.read(int(self.headers["Content-Length"]))):
            call = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
            call.putrequest("POST", urllib.parse.urlsplit(action["url"]).path)
            body = json.dumps(action["arguments"]).encode()
            for name, value in [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]:
                call.putheader(name, value)
            for name in NAMES:
                for value in self.headers.get_all(name, []):
                    call.putheader(name, value)
            call.endheaders(body)
            call.getresponse().read()
            call.close()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
