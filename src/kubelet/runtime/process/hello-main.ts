/** What the images `coracle.local/hello` run as local processes: the same answers as the busybox ones, on the pod's own address. */
import { createServer } from "node:http";

const { VERSION: version = "v1", HOSTNAME: hostname = "", CORACLE_POD_IP: address = "127.0.0.1", PORT: port = "8080" } = process.env;

const server = createServer((request, response) => {
  const pages: Record<string, string> = {
    "/": `hello ${version} from ${hostname}\n`,
    "/index.html": `hello ${version} from ${hostname}\n`,
    "/healthz": "ok\n",
  };
  const page = pages[new URL(request.url ?? "/", "http://localhost").pathname];
  response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/plain", connection: "close" }).end(page ?? "not found\n");
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));
server.listen(Number(port), address, () => console.log(`hello ${version} listens on port ${port}`));
