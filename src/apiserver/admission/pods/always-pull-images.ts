/** AlwaysPullImages: every start asks the registry, so that nobody runs images that only others may pull. */
import type { Pod } from "../../../api/core-v1/types.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { fieldErrorText, notSupported } from "../../../apimachinery/field-error.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { allContainers, visitContainers } from "./containers.ts";
import type { ContainerSort } from "./containers.ts";

export const alwaysPullImages: AdmissionPlugin = {
  name: "AlwaysPullImages",
  operations: new Set(["CREATE", "UPDATE"]),
  resources: new Set(["/pods"]),
  mutate,
  validate,
};

const listNames: Readonly<Record<ContainerSort, string>> = {
  container: "containers",
  "init container": "initContainers",
  "ephemeral container": "ephemeralContainers",
};

function mutate(request: AdmissionRequest): void {
  if (isIgnored(request)) return;
  const spec = (request.object as unknown as Pod).spec ?? {};
  visitContainers(spec, (container) => {
    container.imagePullPolicy = "Always";
  });
  for (const { image } of spec.volumes ?? []) if (image !== undefined && (image.reference ?? "") !== "") image.pullPolicy = "Always";
}

function validate(request: AdmissionRequest): void {
  if (isIgnored(request)) return;
  const spec = (request.object as unknown as Pod).spec ?? {};
  const faults = allContainers(spec).flatMap(({ container, sort, index }) =>
    container.imagePullPolicy === "Always"
      ? []
      : [notSupported(FieldPath.root("spec", listNames[sort]).index(index).child("imagePullPolicy"), container.imagePullPolicy, ["Always"])],
  );
  if (faults.length > 0) throw refuse(request, ...faults.map(fieldErrorText));
}

/** Subresources, and updates that bring no new image. */
function isIgnored({ operation, subresource, object, oldObject }: AdmissionRequest): boolean {
  if (subresource !== "") return true;
  if (operation !== "UPDATE") return false;
  const imagesOf = (pod: unknown) => new Set(allContainers((pod as Pod).spec ?? {}).map(({ container }) => container.image ?? ""));
  const before = imagesOf(oldObject);
  return [...imagesOf(object)].every((image) => before.has(image));
}
