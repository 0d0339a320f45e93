import { deleteAction, nothingToDo, updateAction } from "../../operator/index.ts";
import { edited, resources } from "../../client/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { signLegacyToken } from "./token.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret, ServiceAccount } from "../../api/core-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** A token Secret gets the token, the CA and the namespace of its service account, and goes with it. */
export function planTokenSecret({ secret, account, privateKey, caBundle }: TokenSecretSnapshot): Plan {
  const wantedUid = secret.metadata.annotations?.[accountUidAnnotation] ?? "";
  if (account === undefined || (wantedUid !== "" && wantedUid !== account.metadata.uid)) {
    return { actions: [deleteAction(resources.secrets, secret, {}, { onError: whenGone })], reasons: ["its service account is gone"] };
  }
  const data = secret.data ?? {};
  const wanted: Record<string, string> = {
    ...(caBundle !== "" && { "ca.crt": base64(caBundle) }),
    namespace: base64(secret.metadata.namespace ?? ""),
  };
  const isFilled =
    (data["token"] ?? "") !== "" && Object.entries(wanted).every(([key, value]) => data[key] === value || (key === "namespace" && (data[key] ?? "") !== ""));
  if (isFilled && wantedUid !== "") return nothingToDo;
  const updated = edited<Secret>(secret, (draft) => {
    draft.metadata.annotations = {
      ...draft.metadata.annotations,
      [accountNameAnnotation]: account.metadata.name ?? "",
      [accountUidAnnotation]: account.metadata.uid ?? "",
    };
    const token = (data["token"] ?? "") === "" ? base64(signLegacyToken(privateKey, account, secret)) : data["token"]!;
    draft.data = { ...wanted, ...draft.data, ...(wanted["ca.crt"] !== undefined && { "ca.crt": wanted["ca.crt"] }), token };
  });
  return { actions: [updateAction(resources.secrets, updated, { onError: whenGone })], reasons: ["it lacks what its service account's pods need"] };
}

export interface TokenSecretSnapshot {
  readonly secret: DeepReadonly<Secret>;
  readonly account: DeepReadonly<ServiceAccount> | undefined;
  /** PEM of the key that signs tokens. */
  readonly privateKey: string;
  /** PEM. */
  readonly caBundle: string;
}

export const accountNameAnnotation = "kubernetes.io/service-account.name";
const accountUidAnnotation = "kubernetes.io/service-account.uid";

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
