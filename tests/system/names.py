# A name server at the loopback of a test's machine, over UDP and TCP: each name has one address of IPv4.
import socket, threading

def answer(question):
    end = question.index(0, 12) + 5
    asks_v4 = question[end - 4 : end - 2] == b"\0\1"
    record = b"\xc0\x0c\0\1\0\1\0\0\0\5\0\4" + socket.inet_aton("198.51.100.1")
    head = question[:2] + b"\x81\x80\0\1" + (b"\0\1" if asks_v4 else b"\0\0") + b"\0\0\0\0"
    return head + question[12:end] + (record if asks_v4 else b"")

def over_tcp(listener):
    while True:
        client, _ = listener.accept()
        with client, client.makefile("rb") as asked:
            while length := asked.read(2):
                text = answer(asked.read(int.from_bytes(length, "big")))
                client.sendall(len(text).to_bytes(2, "big") + text)

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.53", 53))
listener = socket.create_server(("127.0.0.53", 53))
threading.Thread(target=over_tcp, args=[listener], daemon=True).start()
while True:
    asked, client = server.recvfrom(4096)
    server.sendto(answer(asked), client)
