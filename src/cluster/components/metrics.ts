/** The metrics server as a component: listens beside the API server, which alone may ask it. */
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiRequest } from "../../apimachinery/request.ts";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import { CertificateTrust, certificatesOf } from "../../apiserver/authn/certificate-trust.ts";
import { requestHeaders } from "../../apiserver/authn/request-headers.ts";
import { TaskGroup, untilAborted } from "../../base/task-group.ts";
import { Client } from "../../client/index.ts";
import { metricsRules, MetricsServer, publishMetrics } from "../../metrics/index.ts";
import { administrator } from "../connections/admin-connection.ts";
import { followAuthority, withAuthority } from "../certificates/authority-following.ts";
import { ensureComponentRole } from "../component-role.ts";
import { firstHostAddress } from "../connections/host-address.ts";
import { followPair } from "../certificates/renewal.ts";
import type { StartComponent } from "./start-components.ts";

const user = "system:serviceaccount:kube-system:metrics-server";

export const startMetrics: StartComponent = async (context) => {
  const { environment, certificates, transportFor } = context;
  const { clock } = environment;
  const log = environment.log.with({ component: "metrics" });
  const address = firstHostAddress();
  if (address.startsWith("127.")) {
    log.info("No metrics: the API server asks no server on a loopback address, and this machine has no other");
    return { async [Symbol.asyncDispose]() {} };
  }
  await ensureComponentRole(context, { name: "system:metrics-server", user, rules: metricsRules() });
  const server = new MetricsServer({
    clock,
    log,
    transport: transportFor({ username: user, groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"] }),
  });
  // The API server has authorized what it passes on; nobody else is answered.
  const proxyAuthority = () => certificates.frontProxy().authority();
  const knownProxies = await proxyAuthority();
  const trust = new CertificateTrust(certificatesOf(knownProxies));
  const proxies = requestHeaders(trust, { allowedNames: ["front-proxy-client"], username: ["x-remote-user"], uid: [], group: [], extraPrefixes: [] }, clock);
  const handler = async (request: ApiRequest) => {
    const outcome = await proxies.authenticate(request);
    return outcome !== undefined && "user" in outcome ? server.serve(request) : bytesResponse(401, "text/plain", "Unauthorized\n");
  };
  const source = () => certificates.serving("metrics-server", ["metrics-server.kube-system.svc"]);
  const serving = await source();
  const listener = await listenTls({ address, port: 0, ...serving, handler, log, maxBodyBytes: 1 << 20 });
  const renewal = followPair({ clock, log, name: "metrics-server", current: serving, source, onNew: listener.setCertificate });
  const group = new TaskGroup({ onFailure: (name, error) => log.error("A component failed", { name, error }) });
  const following = followAuthority({
    clock,
    log,
    name: "metrics-server",
    current: knownProxies,
    source: proxyAuthority,
    onNew: (bundle) => trust.replace(certificatesOf(bundle)),
  });
  group.start("publish", (signal) =>
    withAuthority({ certificates, clock, log, name: "metrics-server" }, signal, async (authority, current) => {
      const client = new Client({ transport: transportFor(administrator), clock, userAgent: "coracle-metrics", signal: current });
      if (!(await publishMetrics(client, { address, port: listener.port, authority })))
        return log.info("Left metrics to the metrics server that is there already");
      await untilAborted(current);
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      await group.close();
      await following[Symbol.asyncDispose]();
      await renewal[Symbol.asyncDispose]();
      await listener.close();
    },
  };
};
