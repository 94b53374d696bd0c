// Makes of report/main.ts and its styles one script and one style sheet, which the program `netloom` embeds in every page it
// writes. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

/** Writes the script's SHA-256, as a content security policy wants it. */
function fingerprint(): Plugin {
  return {
    name: "fingerprint",
    generateBundle(_options, bundle) {
      const script = bundle["report.js"];
      if (script?.type !== "chunk") throw new Error("there is no report.js");
      // A page ends its script where the first of these stands, wherever that is.
      if (/<\/script|<!--/i.test(script.code)) throw new Error("report.js would end its element");
      for (const file of Object.values(bundle)) {
        if (file.type === "asset") file.source = `${String(file.source).trimEnd()}\n`;
      }
      // The program adds no line break of its own, so that the hash is that of the element's text.
      script.code = `${script.code.trimEnd()}\n`;
      const hash = createHash("sha256").update(script.code).digest("base64");
      this.emitFile({ type: "asset", fileName: "report.sha256", source: `sha256-${hash}\n` });
    },
  };
}

export default defineConfig({
  plugins: [fingerprint()],
  build: {
    outDir: "../crates/pages/built/report",
    emptyOutDir: true,
    target: "es2020",
    minify: "esbuild",
    reportCompressedSize: false,
    lib: {
      entry: "report/main.ts",
      name: "netloomReport",
      formats: ["iife"],
      fileName: () => "report.js",
      cssFileName: "report",
    },
  },
  esbuild: { legalComments: "inline", charset: "ascii" },
});
