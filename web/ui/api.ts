// What the page asks its server, as docs/ui-protocol.md has it.
import type { Exercise } from "./control";

export interface Opened {
  kind: "file" | "lab" | "results";
  path?: string | null;
  name?: string;
  id?: string;
}
export type Role = "look" | "use" | "edit";
/** Somebody who came by a link, and what is open there. */
export interface Visitor {
  id: number;
  name: string | null;
  role: Role;
  address: string;
  since_unix_s: number;
  here: boolean;
  open: { kind: "page" | "lab" | "terminal" | "capture"; lab?: string; node?: string; link?: string }[];
  /** Shells that wait for them. */
  kept?: { lab: string; node: string }[];
}
/** A shell of ours that a page may come back to. */
export interface KeptShell {
  shell: string;
  node: string;
  attached: boolean;
}
export interface ServerState {
  version: string;
  role: Role;
  name?: string | null;
  shared: boolean;
  opened: Opened | null;
  folder: string | null;
  results_folder: string | null;
}
export interface LabRow {
  name: string;
  mode?: string;
  answers?: boolean;
  state?: string;
  file?: string;
  clock?: string;
  nodes?: unknown;
  path: string | null;
  results: string | null;
  job: number | null;
}
export interface SceneNode {
  name: string;
  kind: string;
  x: number;
  y: number;
  placed?: boolean;
  addresses?: string[];
}
export interface SceneLink {
  name: string;
  ends: string[];
  words?: string[];
}
export interface Scene {
  nodes: SceneNode[];
  links: SceneLink[];
  names?: Record<string, Span>;
}
export interface Span {
  from: number;
  to: number;
}
export interface Tree extends Span {
  map?: { name: string; from: number; to: number; value: Tree }[];
  list?: Tree[];
  text?: string;
  plain?: boolean;
  block?: boolean;
  empty?: boolean;
}
export interface Problem {
  line: number;
  column: number;
  from: number;
  to: number;
  key?: string | null;
  message: string;
}
export interface Checked {
  ok: boolean;
  errors: Problem[];
  warnings: (string | Problem)[];
  notes: string[];
  tree: Tree | null;
  plan: Record<string, unknown> | null;
  scene: Scene | null;
}
export interface Job {
  id: number;
  command: string;
  path: string;
  lab: string | null;
  state: "going on" | "over";
  exit_code: number | null;
  results: string | null;
  report: Report | null;
  lines?: string[];
  first?: number;
}
export interface Report {
  lab?: string;
  error?: string | null;
  exit_code?: number;
  interrupted?: boolean;
  duration_ns?: number;
  verdict?: {
    as_described: boolean | null;
    findings: { subject: string; text: string }[];
    causes: string[];
    notes: string[];
  } | null;
  expectations?: { text: string; line: number; met: boolean; explanation: string }[];
  warnings?: string[];
  exercise?: Exercise | null;
}
export interface Lesson {
  id: string;
  lab: string;
  file: string;
  text: string;
  exercise: Exercise;
}
export interface ResultRow {
  id: string;
  lab: string;
  name: string;
  began_utc: string | null;
  clock: string | null;
  state: string;
  exit_code: number | null;
  as_described: boolean | null;
  size_bytes: number;
  latest: boolean;
  has_journal: boolean;
}
export interface FileRow {
  path: string;
  size_bytes: number;
  modified_ns: number;
  format: string;
}
export interface Kind {
  text?: string;
  any?: true;
  scalar?: true;
  integer?: { least?: number; most?: number };
  number?: { least?: number; most?: number };
  positive?: true;
  coordinate?: true;
  flag?: true;
  true?: true;
  zero?: true;
  words?: string[];
  quantity?: string;
  units?: string[];
  section?: string;
  optional?: string;
  map?: { names: string; values: Kind };
  list?: { items: Kind; least?: number; most?: number };
  one_of?: Kind[];
}
export interface Key {
  name: string;
  doc: string;
  example: unknown;
  required: boolean;
  kind: Kind;
}
export interface Keys {
  top: string;
  sections: Record<string, { doc: string; keys: Key[] }>;
}
export interface Journal {
  lab: string;
  state: "reading" | "complete" | "unfinished" | "damaged" | "too long";
  packets: number;
  problem: string | null;
  from_ns: number;
  to_ns: number;
  pipes: { link: string; direction: string; pipe: string | null }[];
  flows: {
    flow: number;
    protocol: number | null;
    source: string | null;
    source_port: number | null;
    destination: string | null;
    destination_port: number | null;
    packets: number;
    bytes: number;
  }[];
  flows_left_out: number;
  blocks: { from_ns: number; to_ns: number; packets: number; dropped: number; marked: number }[];
}

/** What the server refused, in its words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly body: Record<string, unknown>,
  ) {
    super(message);
  }
}

const part = (text: string): string => encodeURIComponent(text);
const path = (text: string): string => text.split("/").map(part).join("/");

async function ask(where: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/${where}`, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refusal(0, "netloom ui does not answer: has it ended?", {});
  }
  if (response.ok) return response;
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  throw new Refusal(response.status, String(body.message ?? `the server answered with ${response.status}`), body);
}

const get = async <T>(where: string, signal?: AbortSignal): Promise<T> =>
  (await (await ask(where, signal ? { signal } : {})).json()) as T;
const post = async <T>(where: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  (await (
    await ask(where, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    })
  ).json()) as T;

/** A station that is with an access point, or a terminal that is at a cell. */
export interface AirBelonging {
  link: string;
  station: string;
  to: string;
}

/** A frame that was on the air. */
export interface AirFrame {
  from_ns: number;
  to_ns: number;
  /** Their places among the stations; null for one that is not known, and for everybody. */
  sender: number | null;
  receiver: number | null;
  kind: "data" | "rts" | "cts" | "ack" | "block-ack" | "beacon" | "management";
  channel_mhz: number;
  mpdus: number;
  bad: number;
  retries: number;
  bytes: number;
  collided: boolean;
}

/** What a station had on the air in a span. */
export interface AirUse {
  busy_ns: number;
  frames: number;
  bad: number;
  collisions: number;
  retries: number;
}

/** What was on the air of a run in a span, as far as a capture has it. */
export interface Air {
  /** Radio media of the lab, and those of which there is a capture. */
  media: string[];
  captured: string[];
  link?: string;
  stations?: string[];
  is_partial?: boolean;
  from_ns?: number;
  to_ns?: number;
  span?: { stations: AirUse[]; busy: [number, number][][]; frames: AirFrame[] | null; found: number };
}

export const api = {
  state: (): Promise<ServerState> => get("state"),
  labs: async (): Promise<LabRow[]> => (await get<{ labs: LabRow[] }>("labs")).labs,
  takeDown: async (lab: string): Promise<{ killed: boolean; report: Report | null }> =>
    (await (await ask(`labs/${part(lab)}`, { method: "DELETE" })).json()) as { killed: boolean; report: Report | null },
  shells: async (lab: string): Promise<KeptShell[]> =>
    (await get<{ terminals: KeptShell[] }>(`labs/${part(lab)}/terminals`)).terminals,
  captureCommand: async (lab: string, link: string, query: string): Promise<string> =>
    (await get<{ command: string }>(`labs/${part(lab)}/captures/${part(link)}/command${query}`)).command,
  visitors: (): Promise<{ visitors: Visitor[]; links: { role: Role; address: string }[] }> => get("visitors"),
  sendAway: async (id: number): Promise<void> => void (await ask(`visitors/${id}`, { method: "DELETE" })),
  newLink: (role: Role): Promise<{ role: Role; address: string }> => post(`links/${role}`, {}),
  files: (): Promise<{ files: FileRow[]; left_out: number }> => get("files"),
  read: async (file: string): Promise<{ text: string; etag: string }> => {
    const response = await ask(`files/${path(file)}`);
    return { text: await response.text(), etag: response.headers.get("ETag") ?? "" };
  },
  write: async (file: string, text: string, etag: string | null): Promise<string> => {
    const headers: Record<string, string> = {
      "Content-Type": "text/plain; charset=utf-8",
      ...(etag === null ? { "If-None-Match": "*" } : { "If-Match": etag }),
    };
    return (
      (await (await ask(`files/${path(file)}`, { method: "PUT", headers, body: text })).json()) as { etag: string }
    ).etag;
  },
  check: (file: string, text: string | null, signal?: AbortSignal): Promise<Checked> =>
    post("check", text === null ? { path: file } : { path: file, text }, signal),
  lessons: async (): Promise<Lesson[]> => (await get<{ lessons: Lesson[] }>("lessons")).lessons,
  keys: (): Promise<Keys> => get("keys"),
  formats: (): Promise<{ formats: { name: string; title: string }[]; targets: { name: string }[] }> => get("formats"),
  convert: (name: string, text: string): Promise<{ format: string; text: string; notes: string[] }> =>
    post("convert", { name, text }),
  export: (file: string, text: string, to: string): Promise<{ text: string; notes: string[] }> =>
    post("export", { path: file, text, to }),
  generators: (): Promise<{
    generators: {
      kind: string;
      doc: string;
      keys: { name: string; doc: string; example: unknown; required: boolean }[];
    }[];
  }> => get("generators"),
  generate: (kind: string, keys: Record<string, string>, name: string): Promise<{ text: string }> =>
    post("generate", { kind, keys, name }),
  start: (job: { command: string; path: string; clock?: string | null; name?: string | null }): Promise<Job> =>
    post("jobs", job),
  job: (id: number): Promise<Job> => get(`jobs/${id}`),
  endJob: async (id: number): Promise<void> => void (await ask(`jobs/${id}`, { method: "DELETE" })),
  results: async (): Promise<ResultRow[]> => (await get<{ results: ResultRow[] }>("results")).results,
  result: (id: string): Promise<{ id: string; data: Record<string, unknown>; scene: Scene | null }> =>
    get(`results/${part(id)}`),
  airMap: (
    id: string,
    at: number,
    width: number,
  ): Promise<{ at_ns: number; svg: string | null; belongs: AirBelonging[] }> =>
    get(`results/${part(id)}/map?at_ns=${at}&width=${Math.round(width)}`),
  air: (id: string, query: string): Promise<Air> => get(`results/${part(id)}/air?${query}`),
  journal: (id: string): Promise<Journal> => get(`results/${part(id)}/journal`),
  packets: async (id: string, query: string, signal?: AbortSignal): Promise<ArrayBuffer> =>
    (await ask(`results/${part(id)}/journal/packets?${query}`, signal ? { signal } : {})).arrayBuffer(),
};

/** The address of a WebSocket of the server. */
export const socketUrl = (where: string): string =>
  `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/${where}`;
export const controlUrl = (lab: string): string => socketUrl(`labs/${part(lab)}/control`);
/** A new program, a shell if nothing else is said, which waits for a page that has lost its connection; or a shell of before. */
export const terminalUrl = (
  lab: string,
  node: string,
  columns: number,
  rows: number,
  { command = [], shell = null }: { command?: string[]; shell?: string | null },
): string => {
  const what =
    shell !== null
      ? `&shell=${part(shell)}`
      : command.length > 0
        ? command.map((word) => `&command=${part(word)}`).join("")
        : "&stay=true";
  return socketUrl(`labs/${part(lab)}/nodes/${part(node)}/terminal?columns=${columns}&rows=${rows}${what}`);
};
export const captureUrl = (lab: string, link: string, query: string): string =>
  `/api/labs/${part(lab)}/captures/${part(link)}${query}`;
export const resultFileUrl = (id: string, file: string): string => `/api/results/${part(id)}/files/${path(file)}`;
