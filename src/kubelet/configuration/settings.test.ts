import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, parseDurationMs } from "../../apimachinery/go/go-duration.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { readSettings } from "./read-settings.ts";

const file = (fields: object) => ({ apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", ...fields }) as never;
const flags = (entries: Record<string, string[]>) => new Map(Object.entries(entries));

test("settings: flags win over the file, the file over the defaults", () => {
  const { settings, ignored } = readSettings(
    file({ maxPods: 20, evictionHard: { "memory.available": "5%" }, containerLogMaxSize: "1Mi", evictionPressureTransitionPeriod: "1m30s", healthzPort: 1 }),
    flags({
      "max-pods": ["30"],
      "eviction-soft": ["memory.available<1Gi"],
      "eviction-soft-grace-period": ["memory.available=30s"],
      "manifest-url-header": ["a:b,a:c"],
      "register-with-taints": ["k=v:NoSchedule,x:NoExecute"],
      "reserved-memory": ["0:memory=1Gi;1:memory=2Gi"],
      hairpin: ["x"],
    }),
  );
  const {
    maxPods,
    evictionHard,
    containerLogMaxBytes,
    containerLogMaxFiles,
    evictionPressureTransitionMs,
    evictionSoft,
    staticPodURLHeader,
    registerWithTaints,
    reservedMemory,
  } = settings;
  deepEqual(
    {
      maxPods,
      evictionHard,
      containerLogMaxBytes,
      containerLogMaxFiles,
      evictionPressureTransitionMs,
      evictionSoft,
      staticPodURLHeader,
      registerWithTaints,
      reservedMemory,
    },
    {
      maxPods: 30,
      evictionHard: { "memory.available": "5%" },
      containerLogMaxBytes: 1024 * 1024,
      containerLogMaxFiles: 5,
      evictionPressureTransitionMs: 90_000,
      evictionSoft: { "memory.available": "1Gi" },
      staticPodURLHeader: { a: ["b", "c"] },
      registerWithTaints: [
        { key: "k", value: "v", effect: "NoSchedule" },
        { key: "x", effect: "NoExecute" },
      ],
      reservedMemory: [
        { numaNode: 0, limits: { memory: "1Gi" } },
        { numaNode: 1, limits: { memory: "2Gi" } },
      ],
    },
  );
  deepEqual(ignored, ["healthzPort", "--hairpin"]);
});

const refused: [name: string, file: object | undefined, flags: Record<string, string[]>, message: RegExp][] = [
  ["another kind", { kind: "Pod" }, {}, /is to be a KubeletConfiguration/],
  ["a number that is none", undefined, { "max-pods": ["many"] }, /invalid argument "many" for "--max-pods"/],
  ["a field of another type", { serializeImagePulls: "yes" }, {}, /serializeImagePulls is to be true or false; not "yes"/],
  [
    "image thresholds the wrong way round",
    { imageGCLowThresholdPercent: 90 },
    {},
    /must be less than imageGCHighThresholdPercent \(--image-gc-high-threshold\) 85/,
  ],
  ["a policy nobody knows", { cpuManagerPolicy: "best" }, {}, /cpuManagerPolicy "best" must be one of: \[none static\]/],
  ["parallel pulls that are serialized", { maxParallelImagePulls: 3 }, {}, /maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls/],
  [
    "critical pods with more time than all",
    { shutdownGracePeriod: "10s", shutdownGracePeriodCriticalPods: "20s" },
    {},
    /shutdownGracePeriodCriticalPods 20s must be <= shutdownGracePeriod 10s/,
  ],
];
for (const [name, fields, given, message] of refused) {
  test(`settings refused: ${name}`, () =>
    throws(
      () => readSettings(fields === undefined ? undefined : file(fields), flags(given)),
      (error) => error instanceof ConfigurationError && message.test(error.message),
    ));
}

test("durations", () => {
  deepEqual(["0", "1h2m3s", "1.5s", "250ms"].map(parseDurationMs), [0, 3_723_000, 1500, 250]);
  deepEqual([0, 90_000, 250, 3_600_000].map(formatDuration), ["0s", "1m30s", "250ms", "1h0m0s"]);
  throws(() => parseDurationMs("ten"), { message: 'time: invalid duration "ten"' });
  equal(parseDurationMs("-1s"), -1000);
});
