/** Pods inside workloads: the templates that controllers make pods of. */
import type { PodSpec, PodTemplateSpec } from "../../../api/core-v1/types.ts";
import type { KubeObject, ObjectMeta } from "../../../apimachinery/object.ts";

/** Where a workload keeps its template. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  "/podtemplates": ["template"],
  "/replicationcontrollers": ["spec", "template"],
  "apps/replicasets": ["spec", "template"],
  "apps/deployments": ["spec", "template"],
  "apps/statefulsets": ["spec", "template"],
  "apps/daemonsets": ["spec", "template"],
  "batch/jobs": ["spec", "template"],
  "batch/cronjobs": ["spec", "jobTemplate", "spec", "template"],
};

/** The workloads' resources, as `group/resource`. */
export const templateResources: readonly string[] = Object.keys(templatePaths);

/** The template of a workload; undefined when it has none. */
export function templateOf(
  resource: { readonly group: string; readonly resource: string },
  object: KubeObject,
): { readonly metadata: ObjectMeta; readonly spec: PodSpec } | undefined {
  let at: unknown = object;
  for (const name of templatePaths[`${resource.group}/${resource.resource}`] ?? []) at = (at as Record<string, unknown> | undefined)?.[name];
  const { metadata = {}, spec = {} } = (at ?? {}) as PodTemplateSpec;
  return at === undefined ? undefined : { metadata, spec };
}
