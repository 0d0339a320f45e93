import { dirname, join, resolve } from "node:path";

/** The folder with `etcd`, `kube-apiserver` and `kubectl` for KUBEBUILDER_ASSETS; it lies beside the program that runs. */
export function assetsDirectory(): string {
  return join(dirname(resolve(process.argv[1]!)), "..", "bin", "envtest");
}
