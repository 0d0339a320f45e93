/**
 * How a joining node comes to trust a server it has never seen: `kube-public/cluster-info` is read without trust, and believed because it
 * is signed with the token's secret, which only the cluster knows (documentation page "Authenticating with Bootstrap Tokens").
 */
import { createHash, createHmac, timingSafeEqual, X509Certificate } from "node:crypto";
import { request } from "node:https";
import type { ConfigMap } from "../api/core-v1/types.ts";
import { parseKubeconfig } from "../client/index.ts";

export interface BootstrapTokenText {
  readonly id: string;
  readonly secret: string;
}

export class JoinError extends Error {
  override name = "JoinError";
}

/** Throws JoinError when it has not the form `abcdef.0123456789abcdef`. */
export function parseToken(text: string): BootstrapTokenText {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text) ?? [];
  if (id === undefined || secret === undefined) throw new JoinError("a token looks like abcdef.0123456789abcdef: `coracle token create` prints one");
  return { id, secret };
}

/** The authority (PEM) that the cluster info names. Throws JoinError unless it is signed with the token and has one of the hashes, if any are given. */
export function trustedAuthority(info: ConfigMap, token: BootstrapTokenText, hashes: readonly string[]): string {
  const kubeconfig = info.data?.["kubeconfig"];
  const signature = info.data?.[`jws-kubeconfig-${token.id}`];
  if (kubeconfig === undefined) throw new JoinError("the server has no cluster info: `coracle token create` makes it");
  if (signature === undefined) throw new JoinError("the server does not know this token, or it has ended: `coracle token create` makes another");
  const [header = "", , given = ""] = signature.split(".");
  const expected = createHmac("sha256", token.secret)
    .update(`${header}.${Buffer.from(kubeconfig).toString("base64url")}`)
    .digest();
  const actual = Buffer.from(given, "base64url");
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected))
    throw new JoinError("the server's cluster info is not signed with this token: it is not the cluster that the token is for");
  const authority = parseKubeconfig(kubeconfig).clusters[0]?.cluster["certificate-authority-data"];
  if (authority === undefined) throw new JoinError("the server's cluster info names no authority");
  const pem = Buffer.from(authority, "base64").toString();
  if (hashes.length > 0 && !hashes.includes(authorityHash(pem)))
    throw new JoinError(`the server's authority is ${authorityHash(pem)}, which is not what was expected`);
  return pem;
}

/** `sha256:HEX` of the public key of an authority. */
export function authorityHash(pem: string): string {
  const key = new X509Certificate(pem).publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** Reads the cluster info from a server that is not trusted yet. Rejects with JoinError. */
export function fetchClusterInfo(server: string): Promise<ConfigMap> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new JoinError(`cannot read the cluster info of ${server}: ${reason}`));
    const outgoing = request(
      new URL("/api/v1/namespaces/kube-public/configmaps/cluster-info", server),
      { rejectUnauthorized: false, timeout: 10_000 },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part;
          if (text.length > maxInfoLength) outgoing.destroy(new Error("it is too long"));
        });
        answer.on("end", () => {
          if (answer.statusCode !== 200)
            return fail(
              answer.statusCode === 404 || answer.statusCode === 403 ? "there is none: `coracle token create` makes it" : `status ${answer.statusCode}`,
            );
          try {
            resolve(JSON.parse(text) as ConfigMap);
          } catch {
            fail("it is no JSON");
          }
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within 10 s"))).on("error", (error) => fail(error.message));
    outgoing.end();
  });
}

const maxInfoLength = 1 << 20;
