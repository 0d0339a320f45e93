/** DefaultStorageClass and DefaultIngressClass: an object without a class gets the default one. */
import type { PersistentVolumeClaim } from "../../../api/core-v1/types.ts";
import type { Ingress } from "../../../api/networking-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { derived } from "../derived.ts";

export const defaultStorageClass: AdmissionPlugin = {
  name: "DefaultStorageClass",
  operations: new Set(["CREATE"]),
  resources: new Set(["/persistentvolumeclaims"]),
  mutate: setStorageClass,
};
export const defaultIngressClass: AdmissionPlugin = {
  name: "DefaultIngressClass",
  operations: new Set(["CREATE"]),
  resources: new Set(["networking.k8s.io/ingresses"]),
  mutate: setIngressClass,
};

const storageAnnotations = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
const ingressAnnotation = "ingressclass.kubernetes.io/is-default-class";
const betaStorageAnnotation = "volume.beta.kubernetes.io/storage-class";
const betaIngressAnnotation = "kubernetes.io/ingress.class";

const storageDefaults = derived("storage.k8s.io/storageclasses", (objects) =>
  newestFirst(objects.filter((object) => storageAnnotations.some((name) => object.metadata.annotations?.[name] === "true"))),
);
const ingressDefaults = derived("networking.k8s.io/ingressclasses", (objects) =>
  newestFirst(objects.filter((object) => object.metadata.annotations?.[ingressAnnotation] === "true")),
);

function setStorageClass({ context, object, subresource }: AdmissionRequest): void {
  if (subresource !== "") return;
  const claim = object as unknown as PersistentVolumeClaim;
  if (claim.spec?.storageClassName !== undefined || claim.metadata.annotations?.[betaStorageAnnotation] !== undefined) return;
  const name = storageDefaults(context.server)[0]?.metadata.name;
  if (name !== undefined) (claim.spec ??= {}).storageClassName = name;
}

function setIngressClass(request: AdmissionRequest): void {
  if (request.subresource !== "") return;
  const ingress = request.object as unknown as Ingress;
  if (ingress.spec?.ingressClassName !== undefined || ingress.metadata.annotations?.[betaIngressAnnotation] !== undefined) return;
  const name = ingressDefaults(request.context.server)[0]?.metadata.name;
  if (name === undefined) return;
  (ingress.spec ??= {}).ingressClassName = name;
}

/** Of several defaults the newest counts; of equally old ones the first by name. */
function newestFirst(objects: readonly KubeObject[]): KubeObject[] {
  const key = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? "";
  return [...objects].sort((a, b) => (key(a) === key(b) ? (a.metadata.name! < b.metadata.name! ? -1 : 1) : key(a) > key(b) ? -1 : 1));
}
