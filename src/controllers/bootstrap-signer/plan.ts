import { createHmac } from "node:crypto";
import { deepEqual } from "../../apimachinery/json.ts";
import { edited, resources } from "../../client/index.ts";
import { nothingToDo, updateAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { bootstrapToken, hasExpired } from "./bootstrap-token.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ConfigMap, Secret } from "../../api/core-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** The kubeconfig in `kube-public/cluster-info` is signed with every bootstrap token that is for signing, so that joining nodes can trust it. */
export function planSignatures({ clusterInfo, secrets }: SignatureSnapshot, nowMs: number): Plan {
  const kubeconfig = clusterInfo.data?.["kubeconfig"];
  if (kubeconfig === undefined) return nothingToDo;
  const signatures: Record<string, string> = {};
  for (const secret of secrets) {
    const token = bootstrapToken(secret);
    if (token === undefined || token.values["usage-bootstrap-signing"] !== "true" || hasExpired(token, nowMs)) continue;
    signatures[`${signaturePrefix}${token.id}`] = detachedSignature(kubeconfig, token.id, token.secret);
  }
  const others = Object.fromEntries(Object.entries(clusterInfo.data ?? {}).filter(([key]) => !key.startsWith(signaturePrefix)));
  const data = { ...others, ...signatures };
  if (deepEqual(data, clusterInfo.data ?? {})) return nothingToDo;
  const updated = edited<ConfigMap>(clusterInfo, (draft) => {
    draft.data = data;
  });
  return { actions: [updateAction(resources.configMaps, updated, { onError: whenGone })] };
}

export interface SignatureSnapshot {
  readonly clusterInfo: DeepReadonly<ConfigMap>;
  /** Bootstrap tokens. */
  readonly secrets: readonly DeepReadonly<Secret>[];
}

const signaturePrefix = "jws-kubeconfig-";

/** A JWS without its content (RFC 7515, appendix F). */
function detachedSignature(content: string, id: string, secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  const payload = Buffer.from(content).toString("base64url");
  return `${header}..${createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url")}`;
}
