/** The controllers as a component of `coracle up`. */
import { readFile } from "node:fs/promises";
import { TaskGroup } from "../../base/task-group.ts";
import { ControllersServer, runControllers } from "../../controllers/index.ts";
import { quotaRules } from "./apiserver/quota-rules.ts";
import type { Environment } from "../environment.ts";
import { borrowPrograms } from "../shared-programs.ts";
import type { UpOptions } from "../commands/up-options.ts";
import { withAuthority } from "../certificates/authority-following.ts";
import { serveComponent } from "./component-server.ts";
import { chooseDataPlane } from "./node/choose-runtime.ts";
import { runElected } from "./elected.ts";
import type { StartComponent } from "./start-components.ts";

export const startControllers: StartComponent = async (context) => {
  const { environment, options, certificates, transportFor } = context;
  const { clock, random, log } = environment;
  const flags = new Map([...(await defaultFlags(environment, options)), ...(options.flags.get("controllers") ?? [])]);
  const file = async (flag: string) => {
    const path = flags.get(flag)?.at(-1);
    return path === undefined ? undefined : readFile(path, "utf8");
  };
  const rootAuthority = await file("root-ca-file");
  const serviceAccountKey = (await file("service-account-private-key-file")) ?? (await certificates.serviceAccountKey());
  const { metrics, onReconciled, serve } = new ControllersServer();
  const transport = transportFor({ username: "system:kube-controller-manager", groups: ["system:authenticated"] });
  await using running = new AsyncDisposableStack();
  running.use(
    await serveComponent({ component: "controllers", userAgent: "kube-controller-manager/v1.37.2", usualPort: 10257, transport, handler: serve }, context),
  );
  const group = new TaskGroup({ onFailure: (name, error) => log.error("Component failed", { name, error }) });
  group.start("controllers", (signal) =>
    runElected(
      { environment, options, flags, name: "kube-controller-manager", transport },
      (leading) =>
        withAuthority({ certificates, clock, log, name: "controllers" }, leading, async (authority, current) =>
          runControllers({
            transportFor,
            clock,
            random,
            log,
            signal: current,
            caBundle: rootAuthority ?? authority,
            signer: await certificates.signer(),
            serviceAccountKey,
            quotaRules,
            flags,
            metrics,
            onReconciled,
            ...namespaceGrace(options),
          }),
        ),
      signal,
    ),
  );
  running.defer(() => group.close());
  return running.move();
};

/** Kubernetes waits until every API server refuses creations in a namespace that leaves. Ours, alone on its store, does so from the deletion on; what it had let in before has a moment to arrive. */
function namespaceGrace({ components, store }: UpOptions): { readonly namespaceGraceMs?: number } {
  return components.has("apiserver") && !store.startsWith("etcd=") ? { namespaceGraceMs: 250 } : {};
}

/** Where nodes may join: each gets its pods' range, and tokens work. */
async function defaultFlags(environment: Environment, options: UpOptions): Promise<[string, readonly string[]][]> {
  if (!options.components.has("nodes")) return [];
  await using borrowed = borrowPrograms(environment);
  const hasPodNetwork = (await chooseDataPlane(options, borrowed.programs)) === "nft";
  return [
    ["controllers", ["*,bootstrapsigner,tokencleaner"]],
    ...(hasPodNetwork
      ? ([
          ["allocate-node-cidrs", ["true"]],
          ["cluster-cidr", [options.podCidrs.join(",")]],
        ] as [string, string[]][])
      : []),
  ];
}
