// A server of HTTP and WebSockets on loopback for tests that measure: a page that is served by it talks to it as it would to `netloom ui`, without a test's
// machinery in between.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Duplex } from "node:stream";

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

export interface Socket {
  send: (text: string) => void;
  onMessage: (hear: (text: string) => void) => void;
  onClose: (act: () => void) => void;
  close: () => void;
}
export interface Wire {
  /** Answers as JSON, or bytes, or what a function makes of the address. */ answers: Record<string, unknown>;
  sockets: Record<string, (socket: Socket) => void>;
}

/** Serves a page and these answers; the address, and what ends it. */
export async function serve(bundle: string, wire: Wire, port = 0): Promise<{ address: string; done: () => void }> {
  const open = new Set<Duplex>();
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const path = decodeURIComponent(url.pathname);
    if (path.startsWith("/api/")) {
      const what = `${request.method === "GET" ? "" : `${request.method} `}${path.slice(5)}`;
      const known = wire.answers[what];
      request.resume().on("end", async () => {
        const answer: unknown = typeof known === "function" ? await (known as (url: URL) => unknown)(url) : known;
        response.writeHead(answer === undefined ? 404 : 200, {
          "Content-Type": Buffer.isBuffer(answer) ? "application/octet-stream" : "application/json",
        });
        response.end(
          Buffer.isBuffer(answer) ? answer : JSON.stringify(answer ?? { message: `the double knows no ${what}` }),
        );
      });
      return;
    }
    const file = join(bundle, path.startsWith("/assets/") ? path : "index.html");
    response.writeHead(existsSync(file) ? 200 : 404, {
      "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
    });
    response.end(existsSync(file) ? readFileSync(file) : "");
  });
  server.on("upgrade", (request: IncomingMessage, stream: Duplex) => {
    open.add(stream);
    stream.on("close", () => open.delete(stream)).on("error", () => stream.destroy());
    const found = Object.entries(wire.sockets).find(([end]) => (request.url ?? "").split("?")[0]?.endsWith(end));
    if (!found) return void stream.end("HTTP/1.1 404 Not Found\r\n\r\n");
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    found[1](socketOf(stream));
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    done: () => {
      open.forEach((stream) => {
        stream.destroy();
      });
      server.close();
    },
  };
}

/** Text messages of RFC 6455, each in one frame. */
function socketOf(stream: Duplex): Socket {
  let hear: (text: string) => void = () => undefined;
  let rest = Buffer.alloc(0);
  stream.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (let frame = take(rest); frame; frame = take(rest)) {
      rest = rest.subarray(frame.length);
      if (frame.kind === 8) stream.end();
      else if (frame.kind === 1) hear(frame.text);
    }
  });
  return {
    send: (text) => {
      const body = Buffer.from(text);
      const head = Buffer.alloc(10);
      head[0] = 0x81;
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(body.length), 2);
      const short =
        body.length < 126
          ? Buffer.from([0x81, body.length])
          : body.length < 65_536
            ? Buffer.from([0x81, 126, body.length >> 8, body.length & 255])
            : head;
      stream.write(Buffer.concat([short, body]));
    },
    onMessage: (act) => {
      hear = act;
    },
    onClose: (act) => void stream.on("close", act),
    close: () => void stream.end(),
  };
}

function take(data: Buffer): { kind: number; text: string; length: number } | null {
  if (data.length < 2) return null;
  const size = (data[1] ?? 0) & 127;
  const more = size === 126 ? 2 : size === 127 ? 8 : 0;
  if (data.length < 6 + more) return null;
  const bytes = size === 126 ? data.readUInt16BE(2) : size === 127 ? Number(data.readBigUInt64BE(2)) : size;
  const at = 6 + more;
  if (data.length < at + bytes) return null;
  const body = Buffer.from(data.subarray(at, at + bytes));
  for (let place = 0; place < bytes; place += 1) body[place] = (body[place] ?? 0) ^ (data[2 + more + (place % 4)] ?? 0);
  return { kind: (data[0] ?? 0) & 15, text: body.toString(), length: at + bytes };
}
