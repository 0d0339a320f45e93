/** What is wrong with settings, each fault in one sentence in the words of Kubernetes' own check where it has one. Pure. */
import { formatDuration } from "../../apimachinery/go/go-duration.ts";
import type { KubeletSettings } from "./settings.ts";
import { thresholdFaults } from "../eviction/thresholds.ts";

export function settingFaults(settings: KubeletSettings): string[] {
  const faults: string[] = [...thresholdFaults(settings)];
  const within = (field: string, flag: string, value: number, [min, max]: readonly [number, number]) => {
    if (value < min || value > max) faults.push(`invalid configuration: ${field} (--${flag}) ${value} must be between ${min} and ${max}, inclusive`);
  };
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = settings;
  within("imageGCHighThresholdPercent", "image-gc-high-threshold", high, [0, 100]);
  within("imageGCLowThresholdPercent", "image-gc-low-threshold", low, [0, 100]);
  if (low >= high)
    faults.push(
      `invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
    );
  if (settings.containerLogMaxFiles <= 1)
    faults.push(`invalid configuration: containerLogMaxFiles (--container-log-max-files) ${settings.containerLogMaxFiles} must be greater than 1`);
  if (settings.maxPods < 0) faults.push(`invalid configuration: maxPods (--max-pods) ${settings.maxPods} must not be a negative number`);
  const { maxParallelImagePulls: pulls } = settings;
  if (pulls !== undefined && pulls < 1) faults.push(`invalid configuration: maxParallelImagePulls ${pulls} must be a positive number`);
  if (pulls !== undefined && pulls > 1 && settings.serializeImagePulls)
    faults.push("invalid configuration: maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) set to false");
  if (settings.preloadedImagesVerificationAllowlist.length > 0 && settings.imagePullCredentialsVerificationPolicy !== "NeverVerifyAllowlistedImages")
    faults.push(
      `invalid configuration: can't set preloadedImagesVerificationAllowlist if imagePullCredentialsVerificationPolicy is not "NeverVerifyAllowlistedImages"`,
    );
  faults.push(...shutdownFaults(settings), ...policyFaults(settings));
  return faults;
}

function shutdownFaults({
  shutdownGracePeriodMs: all,
  shutdownGracePeriodCriticalPodsMs: critical,
  shutdownGracePeriodByPodPriority: steps,
}: KubeletSettings): string[] {
  const faults: string[] = [];
  if (critical > all)
    faults.push(`invalid configuration: shutdownGracePeriodCriticalPods ${formatDuration(critical)} must be <= shutdownGracePeriod ${formatDuration(all)}`);
  if (all < 0 || (all > 0 && all < 1000))
    faults.push(`invalid configuration: shutdownGracePeriod ${formatDuration(all)} must be either zero or otherwise >= 1 sec`);
  if (critical < 0 || (critical > 0 && critical < 1000))
    faults.push(`invalid configuration: shutdownGracePeriodCriticalPods ${formatDuration(critical)} must be either zero or otherwise >= 1 sec`);
  if (steps.length > 0 && (all > 0 || critical > 0))
    faults.push("invalid configuration: Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time");
  return faults;
}

const policies = {
  cpuManagerPolicy: ["none", "static"],
  imagePullCredentialsVerificationPolicy: ["NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"],
  memoryManagerPolicy: ["None", "Static"],
  topologyManagerPolicy: ["none", "best-effort", "restricted", "single-numa-node"],
  topologyManagerScope: ["container", "pod"],
} as const;

function policyFaults(settings: KubeletSettings): string[] {
  return (Object.keys(policies) as (keyof typeof policies)[]).flatMap((field) => {
    const known: readonly string[] = policies[field];
    return known.includes(settings[field]) ? [] : [`invalid configuration: ${field} ${JSON.stringify(settings[field])} must be one of: [${known.join(" ")}]`];
  });
}
