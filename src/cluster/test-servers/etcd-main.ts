/**
 * Stands where envtest wants an etcd: listens on `--listen-client-urls` and answers health and version. It stores nothing: kube-apiserver
 * knows it by its version and keeps its objects in memory. A small program of its own, since envtest waits for it.
 */
import { createServer } from "node:http";
import { standInVersion } from "./etcd-version.ts";

const answers: Readonly<Record<string, object>> = {
  "/health": { health: "true", reason: "" },
  "/readyz": {},
  "/livez": {},
  "/version": { etcdserver: standInVersion, etcdcluster: standInVersion },
};

const urls = flag("listen-client-urls") ?? "http://localhost:2379";
for (const url of urls.split(",")) listen(new URL(url));
process.on("SIGTERM", () => process.exit(0));
process.on("SIGINT", () => process.exit(0));

/** The last value of a flag, given as `--name=value` or `--name value`. */
function flag(name: string): string | undefined {
  const words = process.argv.slice(2);
  const index = words.findLastIndex((word) => word.replace(/^--?/, "").split("=")[0] === name);
  if (index < 0) return undefined;
  const equals = words[index]!.indexOf("=");
  return equals < 0 ? words[index + 1] : words[index]!.slice(equals + 1);
}

function listen({ hostname, port }: URL): void {
  const server = createServer(({ url = "/" }, response) => {
    const answer = answers[url.split("?")[0]!];
    if (answer === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  server.on("error", (error) => {
    process.stderr.write(`etcd: cannot listen on ${hostname}:${port}: ${error.message}\n`);
    process.exit(1);
  });
  server.listen(Number(port || "2379"), hostname.replace(/^\[|\]$/g, ""));
}
