/** The images we make ourselves, from one static busybox, so that no registry is needed. */
import type { ImageContent } from "./oci-archive.ts";
import type { TarEntry } from "./tar.ts";

export const pauseImageName = "coracle.local/pause:1";
export const helloImageNames = ["coracle.local/hello:v1", "coracle.local/hello:v2"] as const;

/** `busybox`: the program's bytes (static); `applets`: the names it answers to. */
export interface Busybox {
  readonly data: Uint8Array;
  readonly applets: readonly string[];
}

export function builtinImages(busybox: Busybox): ImageContent[] {
  return [pauseImage(busybox), ...helloImageNames.map((name) => helloImage(name, busybox))];
}

/**
 * What holds a sandbox' namespaces: sleeps, reaps the orphans it inherits when processes are shared (the shell's `wait` does), and ends
 * at SIGTERM. A process with id 1 has no default action for signals, hence the trap.
 */
export function pauseImage(busybox: Busybox): ImageContent {
  const script = "#!/bin/sh\ntrap 'exit 0' TERM INT\nwhile :; do sleep 2147483647 & wait $!; done\n";
  return {
    name: pauseImageName,
    // A file of that name: pods that share processes look for it.
    layers: [busyboxLayer({ ...busybox, applets: ["sh", "sleep"] }), [{ type: "file", path: "pause", data: Buffer.from(script), mode: 0o755 }]],
    config: { Entrypoint: ["/pause"], Env: [path] },
  };
}

/** An HTTP server on port 8080 (or $PORT) that answers `hello v1 from HOSTNAME`; `/healthz` answers `ok`. */
export function helloImage(name: string, busybox: Busybox): ImageContent {
  const version = name.split(":").at(-1)!;
  const script = [
    "#!/bin/sh",
    "trap 'exit 0' TERM INT",
    // Where the root file system is read-only, shared memory still can be written.
    "pages=/tmp/pages; mkdir -p $pages 2>/dev/null || { pages=/dev/shm/pages; mkdir -p $pages; }",
    'echo "hello $VERSION from $(hostname)" > $pages/index.html',
    "echo ok > $pages/healthz",
    'httpd -f -p "${PORT:-8080}" -h $pages & server=$!',
    'until wget -qO /dev/null "http://127.0.0.1:${PORT:-8080}/healthz" 2>/dev/null; do kill -0 $server || exit 1; sleep 0.01; done',
    'echo "hello $VERSION listens on port ${PORT:-8080}"',
    "wait $server",
    "",
  ].join("\n");
  const files: TarEntry[] = [{ type: "file", path: "bin/hello", data: Buffer.from(script), mode: 0o755 }];
  return {
    name,
    layers: [busyboxLayer(busybox), files],
    config: { Entrypoint: ["/bin/hello"], Env: [path, `VERSION=${version}`], ExposedPorts: { "8080/tcp": {} } },
  };
}

/** A plain busybox under any name: a shell and the usual commands. */
export function busyboxImage(name: string, busybox: Busybox): ImageContent {
  return { name, layers: [busyboxLayer(busybox)], config: { Cmd: ["sh"], Env: [path] } };
}

const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

function busyboxLayer(busybox: Busybox): TarEntry[] {
  const users = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n";
  const groups = "root:x:0:\nnogroup:x:65534:\n";
  return [
    ...["bin", "dev", "etc", "proc", "root", "run", "sys", "usr", "usr/bin", "usr/sbin", "sbin", "var", "home"].map((name): TarEntry => ({
      type: "directory",
      path: name,
    })),
    { type: "directory", path: "tmp", mode: 0o1777 },
    { type: "file", path: "etc/passwd", data: Buffer.from(users) },
    { type: "file", path: "etc/group", data: Buffer.from(groups) },
    { type: "file", path: "bin/busybox", data: busybox.data, mode: 0o755 },
    ...busybox.applets.filter((name) => name !== "busybox").map((name): TarEntry => ({ type: "link", path: `bin/${name}`, target: "bin/busybox" })),
  ];
}
