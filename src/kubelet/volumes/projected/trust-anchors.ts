/** Certificates of ClusterTrustBundles for pods (KEP 3257, API reference "ClusterTrustBundleProjection"). Pure. */
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import { matchesLabels, selectorFromObject } from "../../../apimachinery/selectors/label-selector.ts";
import { decodePem } from "../../../api/certificates-v1/pem.ts";
import type { ClusterTrustBundle } from "../../../api/certificates-v1/types.ts";
import type { ClusterTrustBundleProjection } from "../../../api/core-v1/types.ts";
import { VolumeError } from "../volume.ts";

/** Each certificate once, as PEM. Throws `VolumeError` when there is none and the source is not optional. */
export function trustAnchors(source: DeepReadonly<ClusterTrustBundleProjection>, bundles: readonly DeepReadonly<ClusterTrustBundle>[]): string {
  const isOptional = source.optional === true;
  if (source.name !== undefined) {
    const found = bundles.find(({ metadata }) => metadata.name === source.name);
    if (found === undefined && !isOptional)
      throw new VolumeError(`error retrieving trust anchors: clustertrustbundle.certificates.k8s.io ${JSON.stringify(source.name)} not found`);
    return normalized(found === undefined ? [] : [found]);
  }
  const selector = selectorFromObject(source.labelSelector);
  const found = bundles.filter(({ spec, metadata }) => spec.signerName === source.signerName && matchesLabels(selector, metadata.labels));
  if (found.length === 0 && !isOptional) throw new VolumeError("combination of signerName and labelSelector matched zero ClusterTrustBundles");
  return normalized(found);
}

/** In an order of their own, so that it tells nothing and never changes by itself. */
function normalized(bundles: readonly DeepReadonly<ClusterTrustBundle>[]): string {
  const certificates = bundles.flatMap(({ spec }) => decodePem(spec.trustBundle)).map(({ bytes }) => Buffer.from(bytes).toString("base64"));
  return [...new Set(certificates)].toSorted().map(pemOf).join("");
}

function pemOf(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;
}
