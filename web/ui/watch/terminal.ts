// A program in a node, at a terminal in the page. What the program writes is taken as fast as it can be shown and no faster.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { h } from "../../components/dom";
import { colour, onTheme } from "../../components/theme";
import { terminalUrl } from "../api";

/** Lines that can be scrolled back to: with 200 columns, some 10 MB. */
const SCROLLBACK = 4_000;
/** Bytes that are acknowledged together. */
const TAKEN = 32 << 10;

export class NodeTerminal {
  readonly element = h("div", { class: "terminal" });
  private readonly term: Terminal;
  private readonly fit = new FitAddon();
  private readonly socket: WebSocket;
  private readonly resize: ResizeObserver;
  private taken = 0;
  private alive = true;
  bytes = 0;

  constructor(lab: string, readonly node: string, command: string[], private readonly told: (state: string) => void) {
    this.term = new Terminal({ scrollback: SCROLLBACK, fontSize: 13, fontFamily: 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace', cursorBlink: false, screenReaderMode: false, theme: this.theme(), allowProposedApi: false, linkHandler: { activate: () => undefined } });
    this.term.loadAddon(this.fit);
    this.term.open(this.element);
    this.term.textarea?.setAttribute("aria-label", `terminal of ${node}`);
    this.element.addEventListener("keydown", (event) => {
      // A way out for those who have only keys.
      if (event.key === "F6") {
        event.preventDefault();
        document.querySelector<HTMLElement>(event.shiftKey ? ".mapcanvas" : ".dock [role=tab][aria-selected=true]")?.focus();
      }
    }, { capture: true });
    this.fitNow();
    this.socket = new WebSocket(terminalUrl(lab, node, this.term.cols, this.term.rows, command));
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.hear(event.data);
    this.socket.onclose = (event) => {
      if (this.alive) this.end(event.reason || "the connection was lost");
    };
    const encoder = new TextEncoder();
    this.term.onData((text) => this.socket.readyState === WebSocket.OPEN && this.socket.send(encoder.encode(text)));
    this.term.onBinary((text) => this.socket.readyState === WebSocket.OPEN && this.socket.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    this.term.onResize(({ cols, rows }) => this.say({ resize: { columns: cols, rows } }));
    this.resize = new ResizeObserver(() => this.fitNow());
    this.resize.observe(this.element);
    onTheme(() => { if (this.alive) this.term.options.theme = this.theme(); });
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const bytes = new Uint8Array(data);
      this.bytes += bytes.length;
      this.element.dataset["bytes"] = String(this.bytes);
      this.term.write(bytes, () => {
        this.taken += bytes.length;
        if (this.taken < TAKEN && bytes.length > 4096) return;
        this.say({ taken: this.taken });
        this.taken = 0;
      });
      return;
    }
    const message = JSON.parse(data) as { started?: boolean; exited?: number; refused?: { message: string } };
    if (message.refused) this.end(message.refused.message);
    else if (message.exited !== undefined) this.end(message.exited === 0 ? "ended" : `ended with exit code ${message.exited}`);
    else if (message.started) this.told("");
  }

  private end(why: string): void {
    if (!this.alive) return;
    this.told(why);
    // As text: what a program or a server says is never a command to the terminal.
    this.term.write(`\r\n\x1b[2m[${why.replace(/[\x00-\x1f\x7f-\x9f]/g, " ")}]\x1b[0m\r\n`);
  }

  private say(message: unknown): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private fitNow(): void {
    if (this.element.clientWidth > 20 && this.element.clientHeight > 20) this.fit.fit();
  }

  private theme(): { background: string; foreground: string; cursor: string; selectionBackground: string } {
    return { background: colour("--paper"), foreground: colour("--ink"), cursor: colour("--link"), selectionBackground: `${colour("--link")}55` };
  }

  focus(): void {
    this.fitNow();
    this.term.focus();
  }

  destroy(): void {
    this.alive = false;
    this.resize.disconnect();
    if (this.socket.readyState === WebSocket.CONNECTING) this.socket.onopen = () => this.socket.close();
    else this.socket.close();
    this.term.dispose();
  }
}
