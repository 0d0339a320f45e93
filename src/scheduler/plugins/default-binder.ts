import type { Client } from "../../client/index.ts";
import { resources } from "../../client/index.ts";
import type { Plugin } from "../framework/plugin.ts";

/** Binds by a POST to the pod's binding subresource. */
export function defaultBinder(client: Client): Plugin {
  return {
    name: "DefaultBinder",
    async bind({ pod: { namespace, name, uid } }, nodeName, signal) {
      const binding = { kind: "Binding", apiVersion: "v1", metadata: { name, namespace, uid }, target: { kind: "Node", name: nodeName } };
      await client.createSubresource(resources.pods, { namespace, name, subresource: "binding" }, binding, { signal });
    },
  };
}
