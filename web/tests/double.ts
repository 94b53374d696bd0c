// Stands for `netloom ui` where a test is of the page alone: answers as docs/ui-protocol.md says, from what the test gives.
import { existsSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { extname, join } from "node:path";
import type { Page, WebSocketRoute } from "playwright-core";

export const ORIGIN = "http://netloom.test";
const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Answers of the server about a lab that has nothing of the kind. */
const USUAL: [RegExp, unknown][] = [
  [/^labs\/[\s\S]+\/terminals$/, { terminals: [] }],
  [/^results\/[\s\S]+\/map$/, { at_ns: 0, svg: null, belongs: [] }],
  [/^results\/[\s\S]+\/air$/, { media: [], captured: [] }],
];

export interface Double {
  /** Answers of the server, by what is behind /api/; with the method before it if it is not GET. */
  answers: Record<string, unknown | ((body: string, url: URL) => unknown)>;
  /** What a WebSocket does, by the end of its path. */
  sockets: Record<string, (socket: WebSocketRoute, url: URL) => void>;
  events: WebSocketRoute[];
}

export class Answer {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Record<string, string> = {},
  ) {}
}

/** Lets a page meet the double. */
export async function play(page: Page, bundle: string, double: Double): Promise<void> {
  await page.route(`${ORIGIN}/**`, async (route) => {
    const url = new URL(route.request().url());
    if (!url.pathname.startsWith("/api/")) {
      const file = join(bundle, url.pathname.startsWith("/assets/") ? url.pathname : "index.html");
      await (existsSync(file)
        ? route.fulfill({
            status: 200,
            body: readFileSync(file),
            contentType: TYPES[extname(file)] ?? "application/octet-stream",
            headers: { "Content-Security-Policy": POLICY },
          })
        : route.fulfill({ status: 404 }));
      return;
    }
    const what = `${route.request().method() === "GET" ? "" : `${route.request().method()} `}${decodeURIComponent(url.pathname.slice(5))}`;
    const usual = USUAL.find(([form]) => form.test(what))?.[1];
    const known = double.answers[what] ?? usual;
    const answer: unknown =
      typeof known === "function"
        ? await (known as (body: string, url: URL) => unknown)(route.request().postData() ?? "", url)
        : known;
    if (answer === undefined) await route.fulfill({ status: 404, json: { message: `the double knows no ${what}` } });
    else if (answer instanceof Answer)
      await route.fulfill({
        status: answer.status,
        ...(Buffer.isBuffer(answer.body) || typeof answer.body === "string"
          ? { body: answer.body }
          : { json: answer.body }),
        headers: answer.headers,
      });
    else await route.fulfill({ status: 200, json: answer });
  });
  await page.routeWebSocket(/netloom\.test\/api\//, (socket) => {
    const url = new URL(socket.url().replace(/^ws/, "http"));
    const name = decodeURIComponent(url.pathname.slice(5));
    if (name === "events") {
      double.events.push(socket);
      const labs = double.answers.labs as { labs?: unknown[] } | undefined;
      socket.send(JSON.stringify({ event: "labs", labs: labs?.labs ?? [] }));
      return;
    }
    const found = Object.entries(double.sockets).find(([end]) => name.endsWith(end));
    if (found) found[1](socket, url);
    else void socket.close({ code: 4404, reason: "no such lab is up" });
  });
}

/** Passes the control protocol on to a lab that is really up. */
export function bridge(path: string): (socket: WebSocketRoute) => void {
  return (socket) => {
    const lab = createConnection(path);
    let rest = "";
    lab.setEncoding("utf8");
    lab.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach((line) => {
        socket.send(line);
      });
    });
    lab.on("close", () => void socket.close({ code: 1000, reason: "the lab has ended" }));
    lab.on("error", () => void socket.close({ code: 4404, reason: "no such lab is up" }));
    socket.onMessage((message) => lab.write(`${String(message)}\n`));
    socket.onClose(() => lab.destroy());
  };
}
