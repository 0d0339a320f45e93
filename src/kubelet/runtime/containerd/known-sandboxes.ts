/** Which sandboxes a containerd knows, and in which network namespaces they are: its CRI plugin says so only in its verbose answers. */
import type { MessageFacts } from "../../../apimachinery/protobuf/messages.ts";
import type { Clock } from "../../../base/clock.ts";
import criTables from "../data/cri-v1.json" with { type: "json" };
import type { KnownSandboxes } from "./earlier-traces.ts";
import { GrpcConnection } from "./grpc.ts";

export function openSandboxes(options: { socketPath: string; clock: Clock }): KnownSandboxes & { close(): void } {
  const connection = new GrpcConnection(options);
  const runtime = connection.service("runtime.v1.RuntimeService", criTables as unknown as MessageFacts);
  return {
    list: async (signal) => ((await runtime.call("ListPodSandbox", {}, { signal }))["items"] as { id: string }[]).map(({ id }) => id),
    networkNamespace: async (pod_sandbox_id, signal) => {
      const { info } = await runtime.call("PodSandboxStatus", { pod_sandbox_id, verbose: true }, { signal });
      const { runtimeSpec } = JSON.parse((info as Record<string, string>)["info"] ?? "{}") as SandboxInfo;
      return runtimeSpec?.linux?.namespaces?.find(({ type }) => type === "network")?.path ?? "";
    },
    close: () => connection.close(),
  };
}

/** Of containerd's JSON, the part that is the OCI specification. */
type SandboxInfo = { runtimeSpec?: { linux?: { namespaces?: { type: string; path?: string }[] } } };
