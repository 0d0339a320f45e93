// esbuild plugin: what sources name as `new URL("./file", import.meta.url)` is found beside the bundle, under the name that `place` gives it.
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "esbuild";

const urlOfFile = /new URL\(\s*"(\.{1,2}\/[^"]+)"\s*,\s*import\.meta\.url\s*\)/g;

/** `place` gets the path of a source and returns where it is, relative to the bundle, such as `./name.js`. */
export function filesByUrl(place: (source: string) => string): Plugin {
  return {
    name: "files-by-url",
    setup({ onLoad }) {
      onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path: file }) => {
        const text = readFileSync(file, "utf8");
        const contents = text.replace(
          urlOfFile,
          (_, relative: string) => `new URL(${JSON.stringify(place(path.resolve(path.dirname(file), relative)))}, import.meta.url)`,
        );
        return { contents, loader: "ts" };
      });
    },
  };
}

/** CommonJS packages inside a bundle ask for Node's modules by `require`. */
export const requireBanner = 'import { createRequire as createRequireForBundle } from "node:module";\nconst require = createRequireForBundle(import.meta.url);';
