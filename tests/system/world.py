# The server beyond a test's machine: it tells each client which address that has for it, and answers echo requests.
import socket, subprocess, time

def run(line):
    return subprocess.run(line.split(), stderr=subprocess.DEVNULL).returncode == 0

run("ip link set lo up")
run("ip address add 198.51.100.1/32 dev lo")
while not run("ip address add 192.0.2.1/24 dev eth0"):
    time.sleep(0.01)
run("ip link set eth0 up")
listener = socket.create_server(("198.51.100.1", 7), backlog=64)
while True:
    client, (address, _) = listener.accept()
    with client:
        client.sendall(f"{address}\n".encode())
