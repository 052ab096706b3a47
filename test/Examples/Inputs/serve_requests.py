"""Starts weft-serve, sends it requests, good and bad, and prints what each is answered."""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

program, data = sys.argv[1:3]
# 5 s of patience anywhere: a server that hangs is a failure, not a test that hangs.
PATIENCE = 5
# Where a script began the tests in the background SIGINT is ignored, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.SIG_DFL)

# Served as users' programs are: from a file.
model = os.path.join(tempfile.mkdtemp(), "digits.weft")
subprocess.run([program, "--demo", "--data", data, "--max-batch", "4", "--save", model], check=True, timeout=300)


def start(*options):
    server = subprocess.Popen([program, model, "--port", "0", *options], stdout=subprocess.PIPE, text=True)
    words = server.stdout.readline()
    return server, int(re.search(r":(\d+)$", words.strip()).group(1))


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def read_reply(client, rest=None):
    """The status and the body of one reply; None where the server closes the connection without one. `rest` keeps what came behind it."""
    rest = rest if rest is not None else bytearray()
    while b"\r\n\r\n" not in rest:
        more = client.recv(65536)
        if not more:
            return None
        rest += more
    head, _ = rest.split(b"\r\n\r\n", 1)
    end = len(head) + 4 + int(re.search(rb"Content-Length: (\d+)", head).group(1))
    while len(rest) < end:
        rest += client.recv(65536)
    body = bytes(rest[len(head) + 4 : end])
    del rest[:end]
    return int(head.split()[1]), body


def ask(data, client=None):
    with client or connect() as client:
        client.sendall(data)
        return read_reply(client)


def post(body, headers="", path="/v1/predict", method="POST"):
    body = body if isinstance(body, bytes) else body.encode()
    return f"{method} {path} HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def show(name, reply):
    if reply is None:
        print(f"{name}: closed")
        return
    status, body = reply
    try:
        words = json.loads(body)
        print(f"{name}: {status} {words.get('error', words)}")
    except UnicodeDecodeError:
        print(f"{name}: {status} {len(body)} bytes")


def npy(shape, values, descr="<f4"):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def instances(rows):
    return json.dumps({"instances": [[[[0.5]] * 28] * 28] * rows})


server, port = start(
    "--max-batch", "4", "--max-body-kib", "64", "--header-timeout-ms", "400", "--body-timeout-ms", "400", "--max-connections", "8"
)

# Good ones.
show("health", ask(b"GET /v1/health HTTP/1.1\r\n\r\n"))
status, body = ask(b"GET /v1/program HTTP/1.1\r\n\r\n")
types = json.loads(body)
print("program:", status, types["name"], types["max_batch"], [e["inputs"][0]["shape"] for e in types["entries"]])
status, body = ask(post(instances(3)))
predictions = json.loads(body)["predictions"]
print("json:", status, [len(row) for row in predictions], "rows alike" if predictions[0] == predictions[2] else "rows differ")
status, body = ask(post(npy((1, 28, 28, 1), struct.pack("<784f", *[0.5] * 784))))
numbers = struct.unpack("<10f", body[-40:])
alike = all(abs(a - b) < 1e-4 for a, b in zip(numbers, predictions[0]))
print("npy:", status, body[:6], "as in json" if alike else f"differs: {numbers} {predictions[0]}")
chunked = b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
text = instances(1).encode()
status, body = ask(chunked + b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (100, text[:100], len(text) - 100, text[100:]))
print("chunks:", status, len(json.loads(body)["predictions"]))
with connect() as client:
    # Two requests at once on one connection, of which the first is wrong.
    client.sendall(post("{}") + post(instances(1)))
    rest = bytearray()
    show("pipelined", read_reply(client, rest))
    print("pipelined:", read_reply(client, rest)[0])
with connect() as client:
    client.sendall(post(instances(1), "Expect: 100-continue\r\n").split(b"\r\n\r\n")[0] + b"\r\n\r\n")
    print("expect:", client.recv(1000).split(b"\r\n")[0].decode())
    client.sendall(instances(1).encode())
    print("expect:", read_reply(client)[0])

# Bad ones, each with its status and its words.
show("malformed", ask(post('{"instances": [')))
show("nan", ask(post('{"instances": [[[[NaN]]]]}')))
show("shape", ask(post('{"instances": [[[[1, 2], [3, 4]]]]}')))
show("ragged", ask(post('{"instances": [[[[1, 2], [3]]]]}')))
show("rows", ask(post(instances(5))))
show("no rows", ask(post('{"instances": []}')))
show("npy dtype", ask(post(npy((1, 28, 28, 1), struct.pack("<784d", *[0.5] * 784), "<f8"))))
show("npy short", ask(post(npy((1, 28, 28, 1), b"1234"))))
show("npy huge", ask(post(npy((1 << 40, 28, 28, 1), b"1234"))))
show("path", ask(b"GET /v2/models HTTP/1.1\r\n\r\n"))
show("method", ask(b"GET /v1/predict HTTP/1.1\r\n\r\n"))
show("post health", ask(post("{}", path="/v1/health")))
show("put", ask(post("{}", method="PUT")))
show("huge", ask(post(b"x" * 70000)))
show("huge announced", ask(b"POST /v1/predict HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n"))
show("huge chunks", ask(chunked + b"11170\r\n" + b"x" * 70000 + b"\r\n0\r\n\r\n"))
show("huge expected", ask(b"POST /v1/predict HTTP/1.1\r\nContent-Length: 70000\r\nExpect: 100-continue\r\n\r\n"))
show("bad chunks", ask(chunked + b"what\r\n"))
show("no length", ask(b"POST /v1/predict HTTP/1.1\r\n\r\n"))
show("bad length", ask(b"POST /v1/predict HTTP/1.1\r\nContent-Length: -5\r\n\r\n"))
show("two lengths", ask(b"POST /v1/predict HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde"))
show("compressed", ask(post("{}", "Content-Encoding: gzip\r\n")))
show("form", ask(post("{}", "Content-Type: multipart/form-data; boundary=x\r\n")))
show("no http", ask(b"hello\r\n\r\n"))
show("long header", ask(b"GET /v1/health HTTP/1.1\r\nX: " + b"y" * 20000 + b"\r\n\r\n"))
show("long target", ask(b"GET /" + b"y" * 9000 + b" HTTP/1.1\r\n\r\n"))
# No whole line is in what the server reads of a request at most.
show("longer target", ask(b"GET /" + b"y" * 20000 + b" HTTP/1.1\r\n\r\n"))
show("endless target", ask(b"GET /" + b"y" * 100000))
show("ranges", ask(b"GET /v1/health HTTP/1.1\r\nRange: bytes=" + b"0-1," * 1900 + b"0-1\r\n\r\n"))
show("bad range", ask(b"GET /v1/health HTTP/1.1\r\nRange: bytes=99999999999999999999-\r\n\r\n"))

# Half a request: the client hangs, hangs up, or sends a byte now and then for ever.
show("half a line", ask(b"POST /v1/pre"))
show("half the headers", ask(b"POST /v1/predict HTTP/1.1\r\nContent-"))
show("half a body", ask(post(instances(1))[:500]))
with connect() as client:
    client.sendall(b"POST /v1/predict HTTP/1.1\r\nContent-Length: 1000\r\n\r\n")
    begun, sent = time.time(), 0
    client.settimeout(0.05)
    reply = None
    while time.time() - begun < PATIENCE and reply is None:
        client.sendall(b"[")
        sent += 1
        try:
            reply = read_reply(client)
        except TimeoutError:
            pass
    show("a trickle", (reply[0], re.sub(rb"\d+ bytes", b"some bytes", reply[1])))
for _ in range(20):
    client = connect()
    client.sendall(post(instances(1))[:300])
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()  # with a reset
# Where the machine is busy the server may not have seen yet that the clients above are gone.
end = time.monotonic() + PATIENCE
while True:
    try:
        with connect() as client:
            client.sendall(post(instances(1))[:300])
            client.shutdown(socket.SHUT_WR)
            reply = read_reply(client)
        refused = reply is not None and reply[0] == 503
    except OSError:  # refused and closed before all was said
        reply, refused = None, True
    if not refused or time.monotonic() > end:
        break
    time.sleep(0.05)
show("the end of half a body", reply)
# More connections than there may be: those that idle do not keep the server from anybody for ever.
time.sleep(0.2)
idle = [connect() for _ in range(8)]
show("one too many", ask(b""))
for client in idle:
    client.close()
time.sleep(0.2)
show("afterwards", ask(b"GET /v1/health HTTP/1.1\r\n\r\n"))

status, body = ask(b"GET /metrics HTTP/1.1\r\n\r\n")
for line in body.decode().splitlines():
    if re.match(r'weft_serve_requests_total{path="(/v1/predict",status="(200|413|408)|other)', line):
        print(line)

# A stop answers those that are being served: here one whose body is still coming.
client = connect()
whole = post(instances(1))
client.sendall(whole[:-10])
time.sleep(0.05)
server.send_signal(signal.SIGTERM)
time.sleep(0.05)
client.sendall(whole[-10:])
print("while stopping:", read_reply(client)[0], read_reply(client))
print("stopped:", server.wait(PATIENCE), server.stdout.read().strip())

# A load of two seconds.
server, port = start()
load = subprocess.run(
    [program + "-load", "--port", str(port), "--pid", str(server.pid), "--rate", "100", "--seconds", "2", "--warm-up", "0.5"],
    capture_output=True,
    text=True,
    timeout=60,
)
print("load:", load.returncode, load.stdout, load.stderr)
late = subprocess.run(
    [program + "-load", "--port", str(port), "--rate", "50", "--seconds", "0.5", "--max-p99-us", "1"], capture_output=True, text=True, timeout=60
)
print("late:", late.returncode, late.stderr)
# Two servers on one port would have half of the clients each.
second = subprocess.run([program, model, "--port", str(port)], capture_output=True, text=True, timeout=60)
print("second:", second.returncode, second.stderr)
server.send_signal(signal.SIGINT)
print("stopped:", server.wait(PATIENCE))
