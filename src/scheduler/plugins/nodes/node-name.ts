import { unresolvable } from "../../framework/refusal.ts";
import type { Plugin } from "../../framework/plugin.ts";

/** A pod that names its node goes there or nowhere. */
export const nodeName: Plugin = {
  name: "NodeName",
  events: [{ resource: "Node", actions: ["Add"], helps: ({ pod }, { current }) => current?.metadata.name === pod.spec?.nodeName }],
  preFilter({ pod }) {
    const wanted = pod.pod.spec?.nodeName ?? "";
    return wanted === "" ? "skip" : { isLocal: true, refuse: ({ name }) => (name === wanted ? undefined : otherNode) };
  },
};

const otherNode = unresolvable("node(s) didn't match the requested node name");
