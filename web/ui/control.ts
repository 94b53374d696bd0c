// A client of the control protocol over a WebSocket: one JSON object is one message. See docs/protocol.md.
import type { Greeting } from "./protocol";
import { type Accessor, createSignal } from "./view";

export type {
  ExerciseReport as Exercise,
  ExpectationRow as TaskCheck,
  Happened,
  LabInfo as Info,
  Link as TopologyLink,
  Now,
  Output,
  PacketRecord as SampledPacket,
  PacketSample as Packets,
  PipeStats,
  Sample as Stats,
  SoFar,
  StationRow,
  SwitchRow as SwitchPort,
  TaskRow as Task,
  TcpConnection,
  TcpSample as Connections,
  Topology,
} from "./protocol";

type Message = Record<string, unknown> & { id?: number; reply?: string; event?: string; message?: string };

export type State = "connecting" | "open" | "ended";
/** Between two attempts to connect, in ms. */
const AGAIN = [250, 500, 1000, 2000, 5000];

export class Refused extends Error {
  constructor(
    message: string,
    readonly key: string | null,
  ) {
    super(message);
  }
}

/** There is no answer any more: the connection is gone, which the page says by itself. */
export class Lost extends Error {}

interface Subscription {
  request: Record<string, unknown>;
  hear: (event: never) => void;
  events: string;
  refused: (why: string) => void;
}

export class Control {
  readonly state: Accessor<State>;
  /** Why it is not open. */
  readonly why: Accessor<string>;
  /** What the lab offers; null until it has said so. */
  readonly offers: Accessor<readonly string[] | null>;
  private readonly setOffers: (offers: readonly string[]) => void;
  private readonly setState: (state: State) => void;
  private readonly setWhy: (why: string) => void;
  private socket: WebSocket | null = null;
  private readonly waiting = new Map<number, { done: (message: Message) => void; failed: (error: Error) => void }>();
  private readonly subscriptions = new Map<number, Subscription>();
  private last = 0;
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;

  /** Connects, and again when the connection is lost, as long as `exists` says that there is such a lab. */
  constructor(
    private readonly url: string,
    private readonly exists: () => Promise<boolean>,
  ) {
    const [state, setState] = createSignal<State>("connecting");
    const [why, setWhy] = createSignal("");
    const [offers, setOffers] = createSignal<readonly string[] | null>(null);
    [this.state, this.setState, this.why, this.setWhy, this.offers, this.setOffers] = [
      state,
      setState,
      why,
      setWhy,
      offers,
      setOffers,
    ];
    this.connect();
  }

  private connect(): void {
    if (this.closed) return;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.attempts = 0;
      this.send<Greeting>({ request: "hello", version: 1 }).then(
        ({ capabilities }) => this.setOffers(capabilities ?? []),
        (error: Error) => this.setWhy(error.message),
      );
      for (const [id, one] of this.subscriptions) this.write({ id, ...one.request });
      this.setWhy("");
      this.setState("open");
    };
    socket.onmessage = (event) => {
      if (typeof event.data === "string") this.hear(event.data);
    };
    socket.onclose = (event) => {
      this.waiting.forEach(({ failed }) => {
        failed(new Lost(event.reason || "the connection to the lab was lost"));
      });
      this.waiting.clear();
      if (this.closed) return;
      this.setWhy(event.reason);
      void this.lost();
    };
  }

  private async lost(): Promise<void> {
    this.setState("connecting");
    const is = await this.exists().catch(() => true);
    if (this.closed) return;
    if (!is) {
      this.closed = true;
      this.setState("ended");
      return;
    }
    this.timer = setTimeout(() => this.connect(), AGAIN[Math.min(this.attempts, AGAIN.length - 1)]);
    this.attempts += 1;
  }

  private hear(text: string): void {
    const message = JSON.parse(text) as Message;
    const id = typeof message.id === "number" ? message.id : -1;
    const subscription = this.subscriptions.get(id);
    if (message.event === "ended") subscription?.refused(String(message.because));
    else if (message.event !== undefined) subscription?.hear(message as never);
    else if (subscription && message.reply === "refused") subscription.refused(message.message ?? "refused");
    if (message.event !== undefined) return;
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (message.reply === "refused")
      waiting?.failed(new Refused(message.message ?? "refused", (message.key as string) ?? null));
    else waiting?.done(message);
  }

  private write(message: Record<string, unknown>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Asks, and waits for the reply. */
  send<T>(request: Record<string, unknown>): Promise<T> {
    this.last += 1;
    const id = this.last;
    return new Promise<T>((done, failed) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        failed(new Lost("the page is not connected to the lab"));
        return;
      }
      this.waiting.set(id, { done: done as (message: Message) => void, failed });
      this.write({ id, ...request });
    });
  }

  /** Hears events, after a connection that was lost, too; or why there are none. A connection has one subscription to each kind: the last one holds. */
  subscribe<T>(
    events: string,
    keys: Record<string, unknown>,
    hear: (event: T) => void,
    refused: (why: string) => void = () => undefined,
  ): void {
    this.unsubscribe(events);
    this.last += 1;
    const one = {
      request: { request: "subscribe", events, ...keys },
      hear: hear as (event: never) => void,
      events,
      refused,
    };
    this.subscriptions.set(this.last, one);
    this.write({ id: this.last, ...one.request });
  }

  unsubscribe(events: string): void {
    for (const [id, one] of this.subscriptions) {
      if (one.events !== events) continue;
      this.subscriptions.delete(id);
      this.write({ request: "unsubscribe", events });
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    const socket = this.socket;
    // Browsers complain of one that is closed while it opens.
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }
}
