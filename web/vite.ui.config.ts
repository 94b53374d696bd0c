// Makes of ui/ the page of `netloom ui`: a document, and parts with names that stay. The same
// sources give the same bytes. Browsers ask whether a part has changed, by its ETag.
import { basename, dirname } from "node:path";
import { defineConfig } from "vite";

/** A page that is loaded when it is gone to is called after its folder: each of them has a `page.ts`. */
const nameOf = (file: string): string => {
  const name = basename(file).replace(/\.\w+$/, "");
  return name === "page" ? basename(dirname(file)) : name;
};

export default defineConfig({
  root: "ui",
  base: "./",
  build: {
    outDir: "../../crates/pages/built/ui",
    emptyOutDir: true,
    target: "es2022",
    minify: "esbuild",
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: ({ facadeModuleId, moduleIds, name }) =>
          `assets/${nameOf(facadeModuleId ?? moduleIds[moduleIds.length - 1] ?? name)}.js`,
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  esbuild: { legalComments: "inline", charset: "ascii" },
});
