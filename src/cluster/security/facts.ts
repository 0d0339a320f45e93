/** What the controls judge by: read from the process that runs (its command line), its files, and what its servers answer. */
import type { AuthorizationChoice } from "../../apiserver/authz/modes.ts";
import type { EncryptionConfiguration } from "../../apiserver/encryption/configuration.ts";
import type { KubeletSettings } from "../../kubelet/index.ts";
import type { AuditFlags } from "../audit/audit-options.ts";
import type { Flags } from "../components/apiserver/apiserver-flags/flag-values.ts";

export interface SecurityFacts {
  readonly nowMs: number;
  readonly apiServerFlags: Flags;
  readonly authorizers: readonly AuthorizationChoice["authorizers"][number]["type"][];
  readonly admissionPlugins: ReadonlySet<string>;
  readonly audit: AuditFlags;
  readonly encryption: EncryptionConfiguration | undefined;
  /** As `--store` has it. */
  readonly store: string;
  readonly anonymousAuth: boolean;
  readonly hasProfiling: boolean;
  readonly hasPriorityAndFairness: boolean;
  readonly requestTimeoutMs: number;
  readonly terminatedPodThreshold: number;
  readonly kubelet: KubeletSettings;
  readonly files: readonly StoredFile[];
  /** Who runs the process. */
  readonly ownerId: number;
  readonly certificates: readonly { readonly path: string; readonly pem: string }[];
  /** What nobody should be able to and can (`get secrets`): those without a name, and users without a role. */
  readonly anonymousRights: readonly string[];
  readonly userRights: readonly string[];
  readonly tls: readonly MetServer[];
  /** Names of nodes whose kubelet answered a stranger. */
  readonly openKubelets: readonly string[];
}

export interface StoredFile {
  readonly path: string;
  readonly kind: "directory" | "store" | "key" | "certificate" | "kubeconfig";
  readonly mode: number;
  readonly uid: number;
}

/** What a server took of a client that offered only what is weak. */
export interface MetServer {
  readonly name: string;
  readonly takesOldVersion: boolean;
  readonly weakSuite: string | undefined;
}
