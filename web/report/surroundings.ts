// What commands wrote, and where and how the run was made.
import { type Child, h, section } from "../components/dom";
import { bytes } from "../components/format";
import { table } from "../components/table";
import type { Log, Run } from "./data";

/** A link to a file of the results folder; names that would lead out of it stay words. */
export function fileLink(place: string, name: string): Child {
  if (name.startsWith("/") || name.split("/").includes("..")) return name;
  const way = [...place.split("/"), ...name.split("/")]
    .map(encodeURIComponent)
    .join("/")
    .replace(/^\/+/, "")
    .replace(/\/+/g, "/");
  return h("a", { href: way.includes(":") ? `./${way}` : way }, name);
}

export function logSection(run: Run): HTMLElement | null {
  if (run.logs.length === 0) return null;
  const block = (log: Log): Child =>
    h(
      "details",
      {},
      h(
        "summary",
        {},
        h("span", { class: "name" }, log.name),
        ` on ${log.node}`,
        h("small", {}, ` ${log.outputs.map((output) => `${output.stream} ${bytes(output.bytes)}`).join(", ")}`),
      ),
      log.outputs.map((output) => [
        h(
          "h3",
          {},
          output.stream === "stdout" ? "standard output" : "standard error",
          " ",
          h("small", {}, fileLink(run.place, output.file)),
        ),
        h(
          "pre",
          { class: "log", tabindex: 0, "aria-label": `${output.stream} of ${log.name}` },
          output.head,
          output.tail
            ? [
                h(
                  "span",
                  { class: "cut" },
                  `\n … ${bytes(output.bytes - output.head.length - output.tail.length)} are left out …\n`,
                ),
                output.tail,
              ]
            : null,
        ),
      ]),
    );
  return section(
    "logs",
    "Logs",
    run.logs.map(block),
    run.logs_left_out > 0
      ? h("p", { class: "note" }, `The logs of ${run.logs_left_out} more commands are in the folder logs.`)
      : null,
  );
}

const WORDS: Record<string, string> = {
  netloom_version: "Netloom",
  netloom_commit: "commit",
  mode: "command",
  lab_file: "lab file",
  seed: "seed",
  clock: "clock",
  dilation: "time slowed by",
  precision: "precision",
  shards: "threads of the engine",
  command_line: "command line",
  started_utc: "began (UTC)",
  user_name: "user",
  host_name: "machine",
  kernel: "kernel",
  machine: "architecture",
  processor: "processor",
  processors: "processors",
  clock_source: "clock source",
  tcp_congestion_control: "congestion control of the machine",
  node_kernel: "kernel of kernel nodes",
  qemu: "QEMU",
  images: "container images",
  environment: "environment of programs",
  inherited: "inherited variables",
  files: "files of the lab",
  on_spin: "when programs compute",
};

function words(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(" ");
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([name, one]) => `${name}=${typeof one === "string" ? one : JSON.stringify(one)}`)
      .join(" ");
  return String(value);
}

export function environmentSection(run: Run): HTMLElement | null {
  const known = Object.entries(run.provenance ?? {}).filter(
    ([name, value]) => WORDS[name] && value !== null && words(value) !== "",
  );
  if (known.length === 0 && run.files.length === 0) return null;
  return section(
    "environment",
    "Environment",
    known.length > 0
      ? h(
          "dl",
          { class: "list" },
          known.map(([name, value]) => [h("dt", {}, WORDS[name]), h("dd", {}, words(value))]),
        )
      : null,
    run.files.length > 0
      ? h(
          "details",
          {},
          h("summary", {}, "files of the results folder"),
          table(
            "files of the results folder",
            [
              { name: "file", show: (file) => fileLink(run.place, file.name), value: (file) => file.name },
              { name: "size", numeric: true, show: (file) => bytes(file.bytes), value: (file) => file.bytes },
            ],
            run.files,
            { copy: false },
          ),
        )
      : null,
  );
}
