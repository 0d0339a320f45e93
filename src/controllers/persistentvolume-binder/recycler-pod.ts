import { quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, Pod, Volume } from "../../api/core-v1/types.ts";

/** The pod that wipes a volume before it is available again. It has 30 s per GiB, but 5 min at least over the network and 1 min on a host. */
export function recyclerPod({ metadata, spec }: DeepReadonly<PersistentVolume>): Pod {
  const gibibytes = Math.floor(quantityValue(spec?.capacity?.["storage"] ?? "0") / 2 ** 30);
  const source = spec?.nfs === undefined ? { hostPath: { ...spec?.hostPath } } : { nfs: { ...spec.nfs } };
  return {
    metadata: { name: recyclerName(metadata.name ?? ""), namespace: recyclerNamespace },
    spec: {
      activeDeadlineSeconds: Math.max(spec?.nfs === undefined ? 60 : 300, 30 * gibibytes),
      restartPolicy: "Never",
      volumes: [{ name: "vol", ...source } as Volume],
      containers: [
        {
          name: "pv-recycler",
          image: "registry.k8s.io/build-image/debian-base:bookworm-v1.0.6",
          command: ["/bin/sh"],
          args: ["-c", 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'],
          volumeMounts: [{ name: "vol", mountPath: "/scrub" }],
        },
      ],
    },
  };
}

export const recyclerNamespace = "default";

export function recyclerName(volumeName: string): string {
  return `recycler-for-${volumeName}`;
}
