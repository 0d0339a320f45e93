/**
 * The User-Agent of a component, shaped as Kubernetes' are: what stands before the first `/` becomes the field manager of its writes.
 * `kube-controller-manager/v1.37.2 (linux/amd64) kubernetes/1a2b3c4/system:serviceaccount:kube-system:job-controller`
 */
export function userAgent(options: { component: string; version: string; platform: string; commit: string; account?: string }): string {
  const { component, version, platform, commit, account } = options;
  const base = `${component}/${version} (${platform}) kubernetes/${commit.slice(0, 7)}`;
  return account === undefined ? base : `${base}/system:serviceaccount:kube-system:${account}`;
}
