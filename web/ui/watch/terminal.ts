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
/** Lines that are kept for when the page is loaded anew and the shell has ended by then. */
const KEPT = 300;
/** Between two attempts to come back to a shell, in ms. */
const AGAIN = [250, 500, 1000, 2000, 5000];
/** Codes with which the server closes a connection for good; others tell of one that was lost. */
const FOR_GOOD = new Set([1000, 1001, 1007, 4401, 4403, 4404, 4409]);
/** What a terminal says of itself while it comes back. */
const CONNECTING = "connecting…";

const letters = (): number => (document.documentElement.hasAttribute("data-present") ? ENLARGED : LETTERS);
/** Without what would be a command to the terminal, but for ends of lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const plain = (text: string): string => text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, " ");

/** What a terminal shows: a new program, a shell of before, or what is left of one that has ended. */
export interface Wish {
  command?: string[];
  shell?: string;
  left?: string;
}

export class NodeTerminal {
  readonly element = h("div", { class: "terminal" });
  private readonly term: Terminal;
  private readonly fit = new FitAddon();
  private socket: WebSocket | null = null;
  private readonly resize: ResizeObserver;
  private taken = 0;
  /** The shell, as the server knows it, if it waits for a page that has lost its connection. */
  shell: string | null;
  /** Bytes still to come that were written before: questions to the terminal in them were answered then. */
  private before = 0;
  private isReplaying = false;
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private alive = true;
  private ended = false;
  private readonly presented: MutationObserver;
  bytes = 0;

  /** Stands in `host`, which is in the page already: the program learns the size that it has there. */
  constructor(
    host: HTMLElement,
    private readonly lab: string,
    readonly node: string,
    private readonly wish: Wish,
    private readonly told: (state: string) => void,
  ) {
    this.shell = wish.shell ?? null;
    host.append(this.element);
    this.term = new Terminal({
      scrollback: SCROLLBACK,
      fontSize: letters(),
      fontFamily: 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace',
      cursorBlink: false,
      screenReaderMode: false,
      theme: this.theme(),
      allowProposedApi: false,
      linkHandler: { activate: () => undefined },
    });
    this.term.loadAddon(this.fit);
    this.term.open(this.element);
    this.term.textarea?.setAttribute("aria-label", `terminal of ${node}`);
    this.element.addEventListener(
      "keydown",
      (event) => {
        // A way out for those who have only keys, of which the program hears nothing.
        if (event.key === "F6") {
          event.preventDefault();
          event.stopPropagation();
          document
            .querySelector<HTMLElement>(event.shiftKey ? ".mapcanvas" : ".dock [role=tab][aria-selected=true]")
            ?.focus();
        }
      },
      { capture: true },
    );
    // Nobody takes what is typed when the program has ended: Tab leads out again.
    this.term.attachCustomKeyEventHandler(({ key }) => !(this.ended && key === "Tab"));
    this.fitNow();
    if (wish.left !== undefined) {
      if (wish.left) this.term.write(`\x1b[2m${plain(wish.left).replace(/\n/g, "\r\n")}\x1b[0m\r\n`);
      queueMicrotask(() => this.end("this shell has ended"));
    } else this.connect();
    const encoder = new TextEncoder();
    this.term.onData((text) => this.type(encoder.encode(text)));
    this.term.onBinary((text) => this.type(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    this.term.onResize(({ cols, rows }) => this.say({ resize: { columns: cols, rows } }));
    this.resize = new ResizeObserver(() => this.fitNow());
    this.resize.observe(this.element);
    onTheme(() => {
      if (this.alive) this.term.options.theme = this.theme();
    });
    this.presented = new MutationObserver(() => {
      this.term.options.fontSize = letters();
      this.fitNow();
    });
    this.presented.observe(document.documentElement, { attributeFilter: ["data-present"] });
  }

  private connect(): void {
    const { command, shell } = { command: this.wish.command ?? [], shell: this.shell };
    const socket = new WebSocket(terminalUrl(this.lab, this.node, this.term.cols, this.term.rows, { command, shell }));
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.hear(event.data);
    socket.onclose = (event) => {
      if (!this.alive || this.ended) return;
      if (this.shell === null || FOR_GOOD.has(event.code)) {
        this.end(event.reason || "the connection was lost");
        return;
      }
      this.told(CONNECTING);
      this.timer = setTimeout(() => this.connect(), AGAIN[Math.min(this.attempts, AGAIN.length - 1)]);
      this.attempts += 1;
    };
  }

  private type(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.isReplaying && this.socket?.readyState === WebSocket.OPEN) this.socket.send(bytes);
  }

  /** Whether its program runs, as far as is known. */
  get isAlive(): boolean {
    return this.alive && !this.ended;
  }

  /** The last lines that stand in it. */
  get text(): string {
    const { active } = this.term.buffer;
    const lines: string[] = [];
    for (let at = Math.max(0, active.length - KEPT); at < active.length; at += 1)
      lines.push(active.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const bytes = new Uint8Array(data);
      this.bytes += bytes.length;
      this.element.dataset.bytes = String(this.bytes);
      this.before = Math.max(0, this.before - bytes.length);
      const isLastOfBefore = this.isReplaying && this.before === 0;
      this.term.write(bytes, () => {
        if (isLastOfBefore) this.isReplaying = false;
        this.taken += bytes.length;
        if (this.taken < TAKEN && bytes.length > 4096) return;
        this.say({ taken: this.taken });
        this.taken = 0;
      });
      return;
    }
    const message = JSON.parse(data) as {
      started?: boolean;
      shell?: string | null;
      before?: number;
      exited?: number;
      refused?: { message: string };
    };
    if (message.refused) this.end(message.refused.message);
    else if (message.exited !== undefined)
      this.end(message.exited === 0 ? "ended" : `ended with exit code ${message.exited}`);
    else if (message.started) {
      // What was shown before the connection was lost comes again.
      if (this.attempts > 0) this.term.reset();
      this.attempts = 0;
      this.shell = message.shell ?? null;
      this.before = message.before ?? 0;
      this.isReplaying = this.before > 0;
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
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private fitNow(): void {
    if (this.element.clientWidth > 20 && this.element.clientHeight > 20) this.fit.fit();
  }

  private theme(): { background: string; foreground: string; cursor: string; selectionBackground: string } {
    return {
      background: colour("--paper"),
      foreground: colour("--ink"),
      cursor: colour("--link"),
      selectionBackground: `${colour("--link")}55`,
    };
  }

  focus(): void {
    this.fitNow();
    this.term.focus();
  }

  destroy(): void {
    this.alive = false;
    clearTimeout(this.timer);
    this.resize.disconnect();
    this.presented.disconnect();
    const { socket } = this;
    // A shell that waits for pages is told that this one does not come back.
    if (socket?.readyState === WebSocket.CONNECTING)
      socket.onopen = () => {
        socket.send(JSON.stringify({ end: true }));
        socket.close();
      };
    else {
      this.say({ end: true });
      socket?.close();
    }
    this.term.dispose();
  }
}
