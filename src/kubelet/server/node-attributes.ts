/** The right that a request to the kubelet's server takes (documentation page "Kubelet authentication/authorization", KEP 2862). Pure. */

export interface NodeAttributes {
  readonly verb: string;
  /** Of `nodes`; any of them suffices. */
  readonly subresources: readonly string[];
}

export function nodeAttributes(method: string, path: string): NodeAttributes {
  const found = rules.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return { verb: verbs[method] ?? "", subresources: found?.[1] ?? ["proxy"] };
}

const verbs: Readonly<Record<string, string>> = { POST: "create", GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** Those with a right of their own may also be had with the general one, as before they had it. */
const rules: readonly (readonly [prefix: string, subresources: readonly string[]])[] = [
  ["/stats", ["stats"]],
  ["/metrics", ["metrics"]],
  ["/logs", ["log"]],
  ["/checkpoint", ["checkpoint"]],
  ["/statusz", ["statusz"]],
  ["/flagz", ["flagz"]],
  ["/pods", ["pods", "proxy"]],
  ["/runningpods", ["pods", "proxy"]],
  ["/allocatedPods", ["pods", "proxy"]],
  ["/healthz", ["healthz", "proxy"]],
  ["/configz", ["configz", "proxy"]],
];
