// Makes of ui/ the page of `netloom ui`: a document, and parts whose names have a hash of their content. The same sources give the same bytes.
import { defineConfig } from "vite";

export default defineConfig({
  root: "ui",
  base: "./",
  build: {
    outDir: "../../crates/server/src/bundle",
    emptyOutDir: true,
    target: "es2022",
    minify: "esbuild",
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
  },
  esbuild: { legalComments: "inline", charset: "ascii" },
});
