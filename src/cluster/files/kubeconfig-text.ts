/** A kubeconfig with everything embedded: one cluster, one user, one context. */
import type { KeyAndCertificate } from "../certificates/key-store.ts";

export interface KubeconfigContent {
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly user: string;
  readonly client: KeyAndCertificate;
}

export function kubeconfigText({ server, authority, user, client }: KubeconfigContent): string {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return `apiVersion: v1
kind: Config
clusters:
- name: coracle
  cluster:
    server: ${server}
    certificate-authority-data: ${base64(authority)}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64(client.certificate)}
    client-key-data: ${base64(client.key)}
contexts:
- name: coracle
  context:
    cluster: coracle
    user: ${user}
current-context: coracle
`;
}
