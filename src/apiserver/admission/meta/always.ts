/** AlwaysAdmit and AlwaysDeny: for tests of the machinery. */
import type { AdmissionPlugin } from "../chain.ts";
import { refuse } from "../refuse.ts";

const all = new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"] as const);

export const alwaysAdmit: AdmissionPlugin = { name: "AlwaysAdmit", operations: all, validate: () => undefined };

export const alwaysDeny: AdmissionPlugin = {
  name: "AlwaysDeny",
  operations: all,
  validate(request) {
    throw refuse(request, "admission control is denying all modifications");
  },
};
