import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Secret } from "../../../api/core-v1/types.ts";
import { referenceTo, resources } from "../../../client/index.ts";
import { parseImageName } from "../../images/image-name.ts";
import type { EnsureResult } from "../../images/image-puller.ts";
import { pullCredentials } from "../../images/pull-secrets.ts";
import type { PullCredential } from "../../images/pull-secrets.ts";
import type { StartRequest } from "./start-container.ts";

/** Pulls and mounts the images that a container has as volumes. Returns the first that cannot be pulled; rejects when one cannot be mounted. */
export async function ensureImageVolumes(request: StartRequest, signal: AbortSignal): Promise<Extract<EnsureResult, { outcome: "failed" }> | undefined> {
  const { node, pod, spec, sandboxConfig } = request;
  const mounted = new Set((spec.container.volumeMounts ?? []).map(({ name }) => name));
  for (const { name, image } of pod.spec?.volumes ?? []) {
    if (image === undefined || !mounted.has(name)) continue;
    const reference = image.reference ?? "";
    const ensured = await node.images.ensure(
      {
        pod,
        container: { name, image: reference, ...(image.pullPolicy !== undefined && { imagePullPolicy: image.pullPolicy }) },
        hasCommand: false,
        sandboxConfig,
        credentials: imageCredentials(request, reference),
        tell: (type, reason, message) => node.events.record(referenceTo(resources.pods, pod), { type, reason, message }),
      },
      signal,
    );
    if (ensured.outcome === "failed") return ensured;
    const parsed = parseImageName(reference);
    await node.storage.mountImage(pod.metadata.uid ?? "", name, parsed.isValid ? parsed.fullName : reference);
  }
  return undefined;
}

/** Of the pod's pull secrets those for the image's registry. */
export function imageCredentials({ pod, objects }: StartRequest, image: string): PullCredential[] {
  const parsed = parseImageName(image);
  if (!parsed.isValid) return [];
  const secrets = (pod.spec?.imagePullSecrets ?? [])
    .map(({ name }) => objects.secret(name ?? ""))
    .filter((secret): secret is DeepReadonly<Secret> => secret !== undefined);
  return pullCredentials(secrets, parsed.repository);
}
