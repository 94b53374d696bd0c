// Translates the tests and runs them by Node's own test runner, one file after the other: a browser is enough for one machine. `npm test -- flows speed` runs two of them.
// NETLOOM_WEB_TESTS=still: those that look at results and pages while no lab runs; NETLOOM_WEB_TESTS=running: all others.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
// Below node_modules, so that the tests find theirs.
const out = mkdtempSync(join(here, "../node_modules/.tests-"));
try {
  const all = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
  // Figures, long watches and whole lessons: `make test-all`.
  const long = process.env.NETLOOM_TEST_ALL ? [] : ["lessons.test.ts", "night.test.ts", "speed.test.ts"];
  const still = ["page.test.ts", "pages.test.ts", "parts.test.ts"];
  const part = process.env.NETLOOM_WEB_TESTS ?? "";
  if (!["", "still", "running"].includes(part)) throw new Error("NETLOOM_WEB_TESTS is still, running, or not set");
  const isWanted = (name) => part === "" || still.includes(name) === (part === "still");
  const asked = (name) => process.argv.includes(name.slice(0, -8));
  const files = all.filter((name) => (process.argv.length < 3 ? !long.includes(name) && isWanted(name) : asked(name)));
  if (process.argv.length < 3 && long.length > 0) console.log(`# left to make test-all: ${long.join(" ")}`);
  await build({
    entryPoints: files.map((name) => join(here, name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    packages: "external",
    logLevel: "warning",
  });
  const tests = files.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  let failed = 0;
  for (const test of tests)
    failed +=
      spawnSync(process.execPath, ["--test", test], { stdio: "inherit", timeout: 300_000 }).status === 0 ? 0 : 1;
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(out, { recursive: true, force: true });
}
