// What is true now on the server, kept up to date by its events.
import { api, type Job, type LabRow, Refusal, type ResultRow, type ServerState, socketUrl, type Visitor } from "./api";
import { createSignal } from "./view";

const [state, setState] = createSignal<ServerState | null>(null);
const [labs, setLabs] = createSignal<LabRow[]>([]);
const [results, setResults] = createSignal<ResultRow[]>([]);
const [visitors, setVisitors] = createSignal<Visitor[]>([]);
const [jobs, setJobs] = createSignal<Record<number, Job>>({});
const [files, setFiles] = createSignal(0);
const [disk, setDisk] = createSignal<{ path: string; etag: string | null; number: number } | null>(null);
const [reached, setReached] = createSignal(true);
const [lasting, setLasting] = createSignal("");
/** Whether the server is of another version than this page is: parts of it that were not loaded yet may not fit. */
const [other, setOther] = createSignal(false);

export { disk, files, jobs, labs, lasting, other, reached, results, state, visitors };

export const may = (what: "use" | "edit"): boolean => {
  const role = state()?.role;
  return role === "edit" || (what === "use" && role === "use");
};

/** Lines of a job that are kept. */
const MOST_LINES = 2_000;
let wait = 500;
/** Whoever shares the page has sent this visitor away. */
let isAway = false;
let number = 0;

export async function startWorld(): Promise<ServerState> {
  const known = await api.state();
  setState(known);
  listen();
  return known;
}

function listen(): void {
  const socket = new WebSocket(socketUrl("events"));
  socket.onopen = () => {
    wait = 500;
    isAway = false;
    setReached(true);
    setLasting("");
    readResults();
    setFiles((count) => count + 1);
    again();
  };
  socket.onmessage = (event) => hear(JSON.parse(String(event.data)) as Record<string, unknown>);
  socket.onclose = ({ code }) => {
    isAway ||= code === 4401;
    setReached(false);
    again();
    setTimeout(listen, wait);
    wait = Math.min(wait * 2, 10_000);
  };
}

/** Asks who the server is: it may have been started anew meanwhile, by another version or with another token. */
function again(): void {
  api.state().then(
    (known) => {
      setOther(state() !== null && state()?.version !== known.version);
      if (!other()) setState(known);
    },
    (error: unknown) => {
      if (error instanceof Refusal && error.status === 401)
        setLasting(
          isAway
            ? "The owner of this page has revoked your access. Ask for an address; this page continues when you have opened it in this browser."
            : "netloom ui was restarted and has another token. Open the address that it printed in this browser: this page then continues.",
        );
    },
  );
}

let reading: ReturnType<typeof setTimeout> | undefined;
function readResults(): void {
  clearTimeout(reading);
  reading = setTimeout(() => {
    api.results().then(setResults, () => undefined);
  }, 100);
}

function hear(event: Record<string, unknown>): void {
  switch (event.event) {
    case "labs":
      setLabs(event.labs as LabRow[]);
      break;
    case "visitors":
      setVisitors(event.visitors as Visitor[]);
      break;
    case "results":
      readResults();
      break;
    case "files":
      setFiles((count) => count + 1);
      break;
    case "file":
      number += 1;
      setDisk({ path: String(event.path), etag: (event.etag as string | null) ?? null, number });
      break;
    case "job": {
      const job = event.job as Job;
      setJobs((all) => {
        const before = all[job.id]?.lines ?? [];
        const first = Number(event.first ?? 0);
        const lines = [
          ...before.slice(0, first === 0 ? 0 : undefined),
          ...((event.lines as string[] | undefined) ?? []),
        ].slice(-MOST_LINES);
        return { ...all, [job.id]: { ...job, lines } };
      });
      break;
    }
    case "bye":
      setLasting(String(event.message ?? "the server has ended"));
      break;
    default:
  }
}
