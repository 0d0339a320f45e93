/** A pod from a file or an address, as the node runs it (documentation page "Create static Pods"). Pure. */
import { createHash } from "node:crypto";
import { DecodeError, decodeObject } from "../../apimachinery/decode/decode-object.ts";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { formatMicroTime } from "../../apimachinery/time.ts";
import { pods as podKind } from "../../api/core-v1/pod/strategy.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { typeRegistry } from "../../api/registry.ts";
import type { RuleContext } from "../../api/strategy.ts";
import gates from "../../api/data/feature-gates.json" with { type: "json" };
import { foreignReference } from "./foreign-references.ts";

export const configAnnotations = {
  hash: "kubernetes.io/config.hash",
  mirror: "kubernetes.io/config.mirror",
  seen: "kubernetes.io/config.seen",
  source: "kubernetes.io/config.source",
} as const;

export class ManifestError extends Error {
  override name = "ManifestError";
}

export interface Manifest {
  readonly bytes: Uint8Array;
  /** The file's path, or the address. */
  readonly origin: string;
  readonly source: "file" | "http";
}

/** The pods of a manifest; an address may give a PodList. Throws `ManifestError`. */
export function readStaticPods(manifest: Manifest, nodeName: string, nowMs: number): Pod[] {
  try {
    const read = decode(manifest.bytes);
    return read.map((pod) => completed(pod, manifest, nodeName, nowMs));
  } catch (error) {
    if (error instanceof ManifestError) throw error;
    throw new ManifestError(`${manifest.origin}: ${(error as Error).message}`, { cause: error });
  }
}

function decode(bytes: Uint8Array): Pod[] {
  for (const kind of ["Pod", "PodList"] as const) {
    const schema = typeRegistry.kind("", "v1", kind)!;
    const { object } = decodeObject(bytes, schema, { mediaType: "yaml" });
    const { apiVersion, kind: told } = object as JsonObject;
    if (apiVersion !== "v1" || (told !== "Pod" && told !== "PodList"))
      throw new DecodeError("version", `expected a Pod or PodList of v1, not ${String(told)} of ${String(apiVersion)}`);
    if (told === kind) return kind === "Pod" ? [object as unknown as Pod] : ((object as unknown as { items?: Pod[] }).items ?? []);
  }
  return [];
}

function completed(pod: Pod, { origin, source }: Manifest, nodeName: string, nowMs: number): Pod {
  const fail = (text: string) => new ManifestError(`${origin}: ${text}`);
  if (pod.metadata?.name === undefined || pod.metadata.name === "") throw fail("metadata.name: Required value");
  const text = JSON.stringify(pod);
  const { name, namespace } = pod.metadata;
  pod.metadata.namespace = namespace === undefined || namespace === "" ? "default" : namespace;
  pod.metadata.name = `${name}-${nodeName.toLowerCase()}`;
  podKind.defaults?.(pod, nowMs);
  const spec = (pod.spec ??= {});
  spec.nodeName = nodeName;
  // What is bound to its node is not driven from it.
  spec.tolerations = [...(spec.tolerations ?? []), { operator: "Exists", effect: "NoExecute" }];
  const context = ruleContext(pod.metadata.namespace, nowMs);
  podKind.create?.prepare?.(pod, context);
  const faults = podKind.create?.validate?.(pod, context) ?? [];
  if (faults.length > 0) throw fail(faults.map(fieldErrorText).join(", "));
  const foreign = foreignReference(pod);
  if (foreign !== undefined) throw fail(`static pods may not reference ${foreign}`);
  // The same file on the same node is the same pod, whenever it is read.
  const hash = createHash("md5").update(`host:${nodeName}\n${source}:${origin}\n${text}`).digest("hex");
  pod.metadata.uid = hash;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [configAnnotations.hash]: hash,
    [configAnnotations.seen]: formatMicroTime(nowMs),
    [configAnnotations.source]: source,
  };
  return pod;
}

export function isStaticPod({ metadata }: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }): boolean {
  const { annotations = {} } = metadata;
  return annotations[configAnnotations.source] !== undefined && annotations[configAnnotations.source] !== "api" && !isMirrorPod({ metadata });
}

/** Whether it stands in the API for one that the node has of its own. */
export function isMirrorPod({ metadata }: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }): boolean {
  return metadata.annotations?.[configAnnotations.mirror] !== undefined;
}

/** What the rules for pods may know here: nothing but the pod. */
function ruleContext(namespace: string, nowMs: number): RuleContext {
  return {
    nowMs,
    user: { username: "", groups: [] },
    namespace,
    subresource: "",
    isDryRun: false,
    isEnabled: (gate) => (gates as Readonly<Record<string, { readonly default: boolean }>>)[gate]?.default === true,
    find: () => undefined,
    findAll: () => [],
    newUid: () => "",
    settings: { allowPrivileged: true, serviceCidrs: [], nodePortRange: { first: 0, last: 0 } },
  };
}
