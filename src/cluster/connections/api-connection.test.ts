import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { X509Certificate } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import { Client, resources } from "../../client/index.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { loopbackConnection, tlsConnection } from "./api-connection.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keyDirectory } from "../certificates/key-store.ts";

const json = (value: object) => bytesResponse(200, "application/json", JSON.stringify(value));

test("api connection: loopback requests carry their identity", async () => {
  const seen: unknown[] = [];
  const connection = loopbackConnection("https://here", (request) => {
    seen.push(request.peer.identity?.username);
    return Promise.resolve(json({ kind: "Pod", metadata: { name: "a" } }));
  });
  const clock = new VirtualClock();
  for (const username of ["one", "two"])
    await new Client({ transport: connection.transportFor({ username, groups: [] }), clock, userAgent: "x" }).get(resources.pods, "a", "a");
  deepEqual(seen, ["one", "two"]);
  await connection[Symbol.asyncDispose]();
});

/** Who asks, by certificate or token, and an answer that fits. */
function answerTo(clock: VirtualClock, seen: string[]): (request: ApiRequest) => Promise<ApiResponse> {
  let tokens = 0;
  return async ({ method, path, headers, peer }) => {
    const subject = peer.certificate === undefined ? "nobody" : new X509Certificate(peer.certificate).subject.replaceAll("\n", " ");
    seen.push(`${headers["authorization"] ?? subject} ${method} ${path}`);
    if (path.endsWith("/token"))
      return json({ kind: "TokenRequest", metadata: {}, status: { token: `t${++tokens}`, expirationTimestamp: formatTime(clock.nowMs() + 3_600_000) } });
    return json({ kind: "Pod", apiVersion: "v1", metadata: { name: "a" } });
  };
}

test("api connection: over TLS users have certificates, service accounts tokens that are renewed in time", async () => {
  const folder = await mkdtemp(join(tmpdir(), "connection-"));
  const clock = new VirtualClock(Date.now());
  const certificates = new Certificates(keyDirectory(folder), clock);
  const seen: string[] = [];
  const listener = await listenTls({
    address: "127.0.0.1",
    port: 0,
    ...(await certificates.serving("server", ["127.0.0.1"])),
    handler: answerTo(clock, seen),
    log: silentLog,
    maxBodyBytes: 1000,
  });
  const connection = tlsConnection(`https://127.0.0.1:${listener.port}`, certificates, { clock, random: seededRandom(1), log: silentLog, setVerbosity() {} });
  const clientOf = (username: string, groups: string[] = []) => new Client({ transport: connection.transportFor({ username, groups }), clock, userAgent: "x" });

  await clientOf("system:node:n", ["system:nodes", "system:authenticated"]).get(resources.pods, "a", "a");
  match(seen[0]!, /O=system:nodes/);
  match(seen[0]!, /CN=system:node:n GET \/api\/v1\/namespaces\/a\/pods\/a$/);
  seen.length = 0;

  const robot = clientOf("system:serviceaccount:kube-system:robot");
  const get = () => robot.get(resources.pods, "a", "a");
  const account = "/api/v1/namespaces/kube-system/serviceaccounts";
  const asked = "CN=system:kube-controller-manager POST";
  await get();
  await get();
  await clock.advance(2_870_000);
  await get();
  await clock.advance(20_000);
  await get();
  const pod = "GET /api/v1/namespaces/a/pods/a";
  const renewed = (token: string) => [`${asked} ${account}`, `${asked} ${account}/robot/token`, `Bearer ${token} ${pod}`];
  deepEqual(seen, [...renewed("t1"), `Bearer t1 ${pod}`, `Bearer t1 ${pod}`, ...renewed("t2")]);

  await connection[Symbol.asyncDispose]();
  await listener.close();
  await rm(folder, { recursive: true });
  equal(clock.nextDueMs(), undefined);
});
