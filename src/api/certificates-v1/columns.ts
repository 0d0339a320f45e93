/** Rows of certificate requests and trust bundles. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, durationText, labelsText, nameOf, orNone } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { CertificateSigningRequest, ClusterTrustBundle, PodCertificateRequest } from "./types.ts";

export const certificateSigningRequestColumns: TablePrinter<CertificateSigningRequest> = {
  cells(request, context) {
    const { spec } = request;
    const duration = spec?.expirationSeconds === undefined ? "<none>" : durationText(spec.expirationSeconds * 1000);
    return [nameOf(request), age(request, context), orNone(spec?.signerName), orNone(spec?.username), duration, requestState(request)];
  },
};

export const clusterTrustBundleColumns: TablePrinter<ClusterTrustBundle> = {
  cells: (bundle) => [nameOf(bundle), orNone(bundle.spec?.signerName)],
};

export const podCertificateRequestColumns: TablePrinter<PodCertificateRequest> = {
  cells(request) {
    const { spec, status } = request;
    const state = status?.conditions?.find(({ type }) => podCertificateStates.includes(type))?.type ?? "Pending";
    return [
      nameOf(request),
      spec?.podName ?? "",
      spec?.serviceAccountName ?? "",
      spec?.nodeName ?? "",
      spec?.signerName ?? "",
      state,
      labelsText(spec?.unverifiedUserAnnotations),
    ];
  },
};

const podCertificateStates = ["Denied", "Failed", "Issued"];

function requestState({ status }: DeepReadonly<CertificateSigningRequest>): string {
  const has = (wanted: string) => status?.conditions?.some(({ type }) => type === wanted) === true;
  const states = [has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending"];
  if (has("Failed")) states.push("Failed");
  if ((status?.certificate ?? "") !== "") states.push("Issued");
  return states.join(",");
}
