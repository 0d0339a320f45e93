/** Warnings that follow from the path alone: resources that are deprecated (documentation page "Deprecated API Migration Guide"). */
import type { Stage } from "../request-context.ts";

const deprecated: Readonly<Record<string, string>> = {
  "/v1/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  "/v1/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
};

export const requestWarnings: Stage = {
  name: "request-warnings",
  async run(context, next) {
    const { group, version, resource } = context.info;
    const warning = deprecated[`${group}/${version}/${resource}`];
    if (warning !== undefined) context.warnings.add(warning);
    return next();
  },
};
