/** A small kind for tests: every shape that server-side apply knows. */
import { TypeRegistry } from "../../schema.ts";
import { freeForm } from "./typed-shape.ts";

const meta = "apimachinery.pkg.apis.meta.v1.ObjectMeta";

const builtIn = new TypeRegistry({
  [meta]: {
    fields: [
      ["name", "string", "e", 1],
      ["namespace", "string", "e", 2],
      ["uid", "string", "e", 3],
      ["resourceVersion", "string", "e", 4],
      ["labels", "map[string]string", "e", 5],
      ["annotations", "map[string]string", "e", 6],
      ["finalizers", "[]string", "e", 7, { listType: "set" }],
    ],
  },
  Thing: {
    fields: [
      ["kind", "string", "e", 0],
      ["apiVersion", "string", "e", 0],
      ["metadata", meta, "e", 1],
      ["spec", "Spec", "e", 2],
      ["status", "Status", "e", 3],
    ],
    gvk: [["", "v1", "Thing"]],
  },
  Spec: {
    fields: [
      ["replicas", "*int32", "e", 1],
      ["isPaused", "bool", "e", 2],
      ["containers", "[]Container", "", 3, { listType: "map", listMapKeys: ["name"] }],
      ["selector", "map[string]string", "e", 4, { mapType: "atomic" }],
      ["args", "[]string", "e", 5],
      ["either", "apimachinery.pkg.util.intstr.IntOrString", "e", 6],
      ["raw", "apimachinery.pkg.runtime.RawExtension", "e", 7],
    ],
  },
  Container: {
    fields: [
      ["name", "string", "", 1],
      ["image", "string", "e", 2],
      ["ports", "[]Port", "e", 3, { listType: "map", listMapKeys: ["port", "protocol"] }],
    ],
  },
  Port: {
    fields: [
      ["port", "int32", "", 1],
      ["protocol", "string", "e", 2, { default: "TCP" }],
      ["label", "string", "e", 3],
    ],
  },
  Status: {
    fields: [
      ["phase", "string", "e", 1],
      ["replicas", "int32", "e", 2],
    ],
  },
});

export const thing = builtIn.kind("", "v1", "Thing")!;

/** The same kind, but with members that no schema declares. */
export const openThing = { ...thing, unknownFields: freeForm };
