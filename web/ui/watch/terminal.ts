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
/** Size of letters in pixels, and for a projector. */
const [LETTERS, ENLARGED] = [13, 21];
/** Lines that are kept for when the page is loaded anew. */
const KEPT = 300;

const letters = (): number => (document.documentElement.hasAttribute("data-present") ? ENLARGED : LETTERS);
/** Without what would be a command to the terminal, but for ends of lines. */
const plain = (text: string): string => text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, " ");

export class NodeTerminal {
  readonly element = h("div", { class: "terminal" });
  private readonly term: Terminal;
  private readonly fit = new FitAddon();
  private readonly socket: WebSocket;
  private readonly resize: ResizeObserver;
  private taken = 0;
  private alive = true;
  private ended = false;
  private readonly presented: MutationObserver;
  bytes = 0;

  /** Stands in `host`, which is in the page already: the program learns the size that it has there. `before`: lines that stood there when the page was left. */
  constructor(host: HTMLElement, lab: string, readonly node: string, command: string[], before: string, private readonly told: (state: string) => void) {
    host.append(this.element);
    this.term = new Terminal({ scrollback: SCROLLBACK, fontSize: letters(), fontFamily: 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace', cursorBlink: false, screenReaderMode: false, theme: this.theme(), allowProposedApi: false, linkHandler: { activate: () => undefined } });
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
    // Nobody takes what is typed when the program has ended: Tab leads out again.
    this.term.attachCustomKeyEventHandler(({ key }) => !(this.ended && key === "Tab"));
    this.fitNow();
    if (before) this.term.write(`\x1b[2m${plain(before).replace(/\n/g, "\r\n")}\r\n[the page was loaded anew: this is another shell]\x1b[0m\r\n`);
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
    this.presented = new MutationObserver(() => {
      this.term.options.fontSize = letters();
      this.fitNow();
    });
    this.presented.observe(document.documentElement, { attributeFilter: ["data-present"] });
  }

  /** The last lines that stand in it. */
  get text(): string {
    const { active } = this.term.buffer;
    const lines: string[] = [];
    for (let at = Math.max(0, active.length - KEPT); at < active.length; at += 1) lines.push(active.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
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
    else if (message.started) {
      this.told("");
      // It may have become another one while the program was starting, when nobody could be told.
      this.say({ resize: { columns: this.term.cols, rows: this.term.rows } });
    }
  }

  private end(why: string): void {
    if (!this.alive || this.ended) return;
    this.ended = true;
    this.told(why);
    // As text: what a program or a server says is never a command to the terminal.
    this.term.write(`\r\n\x1b[2m[${plain(why).replace(/\n/g, " ")}]\x1b[0m\r\n`);
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
    this.presented.disconnect();
    if (this.socket.readyState === WebSocket.CONNECTING) this.socket.onopen = () => this.socket.close();
    else this.socket.close();
    this.term.dispose();
  }
}
