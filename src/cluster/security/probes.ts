/** Questions to the running servers: what they take of TLS, what they answer to strangers, what nobody in particular may do. */
import { once } from "node:events";
import https from "node:https";
import type { IncomingMessage } from "node:http";
import tls from "node:tls";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import type { MetServer } from "./facts.ts";

export interface Server {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

const limitMs = 5000;
/** No forward secrecy, or encryption and authentication apart. */
const weak =
  "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-SHA256:AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA:AES256-SHA:@SECLEVEL=0";

/** Offers a server what it should refuse. */
export async function meet({ name, host, port }: Server): Promise<MetServer> {
  return {
    name,
    takesOldVersion: (await suiteTaken({ host, port, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" })) !== undefined,
    weakSuite: await suiteTaken({ host, port, maxVersion: "TLSv1.2", ciphers: weak }),
  };
}

/** The suite that was agreed on; undefined when there was no connection. */
async function suiteTaken(options: tls.ConnectionOptions): Promise<string | undefined> {
  const socket = tls.connect({ ...options, rejectUnauthorized: false, timeout: limitMs });
  socket.on("timeout", () => socket.destroy(new Error(`${options.host}:${options.port} does not answer`)));
  try {
    await once(socket, "secureConnect");
    return socket.getCipher().name;
  } catch {
    // Refused by an alert, or by a server that hangs up or cannot be reached.
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Of more nodes than these, the others are not asked. */
const maxKubelets = 50;

/** The kubelets of nodes that are ready. */
export async function kubeletsOf(client: Client): Promise<Server[]> {
  const { items } = await client.list(resources.nodes, "");
  const kubelets = items.flatMap(({ metadata, status }) => {
    const host = status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
    const port = status?.daemonEndpoints?.kubeletEndpoint?.Port;
    const isReady = status?.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") === true;
    return host === undefined || port === undefined || !isReady ? [] : [{ name: metadata.name!, host, port }];
  });
  return kubelets.slice(0, maxKubelets);
}

/** Whether a kubelet lists its pods for somebody who says nothing of itself. */
export async function answersStrangers({ host, port }: Server): Promise<boolean> {
  const request = https.get({ host, port, path: "/pods", rejectUnauthorized: false, agent: false, timeout: limitMs });
  request.on("timeout", () => request.destroy(new Error(`${host}:${port} does not answer`)));
  try {
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode === 200;
  } catch {
    // Who cannot be reached answers nobody.
    return false;
  }
}

const questions = [
  { verb: "list", resource: "secrets" },
  { verb: "create", resource: "pods" },
  { verb: "create", resource: "pods", subresource: "exec" },
  { verb: "get", resource: "nodes", subresource: "proxy" },
  { verb: "update", group: "rbac.authorization.k8s.io", resource: "clusterroles" },
  { verb: "impersonate", resource: "users" },
] as const;
const paths = ["/metrics", "/debug/pprof/", "/logs"];

/** What of the things that take a role this user may do. */
export async function rightsOf(client: Client, user: string, groups: string[]): Promise<string[]> {
  const asked = [
    ...questions.map((attributes) => ({
      says: [
        attributes.verb,
        ["resource", "subresource"]
          .map((part) => (attributes as Record<string, string>)[part])
          .filter(Boolean)
          .join("/"),
      ].join(" "),
      spec: { resourceAttributes: attributes },
    })),
    ...paths.map((path) => ({ says: `get ${path}`, spec: { nonResourceAttributes: { verb: "get", path } } })),
  ];
  const answers = await Promise.all(
    asked.map(async ({ says, spec }) => {
      const { status } = await client.create(resources.subjectAccessReviews, {
        kind: "SubjectAccessReview",
        apiVersion: "authorization.k8s.io/v1",
        metadata: {},
        spec: { ...spec, user, groups },
      });
      return status?.allowed === true ? [says] : [];
    }),
  );
  return answers.flat();
}
