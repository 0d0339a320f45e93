/** What drivers are given besides: Secrets that volumes name, and tokens of the pod's service account (API field `tokenRequests`). */
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { CSIDriver } from "../../../api/storage-v1/types.ts";
import { resources } from "../../../client/index.ts";
import type { Client } from "../../../client/index.ts";
import type { VolumeSources } from "../pod-storage.ts";
import { VolumeError } from "../volume.ts";

export async function readSecret(
  reference: DeepReadonly<{ name?: string; namespace?: string }> | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (reference === undefined) return {};
  const { name = "", namespace = "" } = reference;
  const secret = await client.get(resources.secrets, namespace, name, { signal }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new VolumeError(
      `fetching NodePublishSecretRef ${namespace}/${name} failed: kubernetes.io/csi: failed to find the secret ${name} in the namespace ${namespace} with error: ${why}`,
      { cause: error },
    );
  });
  return Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

export interface DriverTokens {
  /** For the volume's context, or for the secrets of drivers that ask for that. */
  readonly context: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Infinite without tokens. */
  readonly refreshAtMs: number;
}

export async function serviceAccountTokens(driver: DeepReadonly<CSIDriver> | undefined, sources: VolumeSources): Promise<DriverTokens> {
  const requests = driver?.spec.tokenRequests ?? [];
  if (requests.length === 0) return { context: {}, secrets: {}, refreshAtMs: Number.POSITIVE_INFINITY };
  const tokens: Record<string, { token: string; expirationTimestamp: string }> = {};
  let refreshAtMs = Number.POSITIVE_INFINITY;
  for (const { audience, expirationSeconds = 3600 } of requests.toSorted((a, b) => (a.audience < b.audience ? -1 : 1))) {
    const made = await sources.token({ audience, expirationSeconds });
    tokens[audience] = { token: made.token, expirationTimestamp: made.expirationTimestamp };
    refreshAtMs = Math.min(refreshAtMs, made.refreshAtMs);
  }
  const value = { "csi.storage.k8s.io/serviceAccount.tokens": JSON.stringify(tokens) };
  return driver?.spec.serviceAccountTokenInSecrets === true ? { context: {}, secrets: value, refreshAtMs } : { context: value, secrets: {}, refreshAtMs };
}
