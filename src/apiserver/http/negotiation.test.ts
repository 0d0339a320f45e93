import { test } from "node:test";
import { equal, throws } from "node:assert/strict";
import { allMediaTypes, negotiate } from "./negotiation.ts";
import type { Offer } from "./negotiation.ts";

const object: Offer = { transforms: ["Table", "PartialObjectMetadata"], goType: "core.Pod" };
const list: Offer = { transforms: ["Table", "PartialObjectMetadataList"], goType: "core.PodList" };
const built: Offer = { ...object, produces: allMediaTypes };
const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
const partial = "as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

function form(accept: string | undefined, offer: Offer): string {
  const { mediaType, isPretty, transform } = negotiate(accept, offer);
  return [
    mediaType.replace("application/", ""),
    ...(isPretty ? ["pretty"] : []),
    ...(transform === undefined ? [] : [`${transform.kind}/${transform.version}`]),
  ].join(" ");
}

test("negotiation: the form that an Accept header picks", () => {
  const cases: [accept: string | undefined, offer: Offer, expected: string][] = [
    [undefined, object, "json"],
    ["  ", object, "json"],
    ["*/*", object, "json"],
    ["application/*", object, "json"],
    ["application/yaml", object, "yaml"],
    ["application/vnd.kubernetes.protobuf", object, "vnd.kubernetes.protobuf"],
    ["text/html, application/yaml", object, "yaml"],
    ["application/yaml;q=0.1, application/json", object, "json"],
    ["application/yaml;q=0, application/json;q=0.5", object, "yaml"],
    ["application/json;pretty=1", object, "json pretty"],
    [table, object, "json Table/v1"],
    [`${table.replace("v=v1", "v=v1beta1")},application/json`, object, "json Table/v1beta1"],
    [`${table.replace("v=v1", "v=v9")},application/json`, object, "json"],
    [`${table.replace("meta.k8s.io", "else")},application/yaml`, object, "yaml"],
    // A Table has no protobuf form: the next clause counts.
    [`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${table}`, object, "json Table/v1"],
    [`application/vnd.kubernetes.protobuf;${partial}`, object, "vnd.kubernetes.protobuf PartialObjectMetadata/v1"],
    // Custom resources: only their metadata has a protobuf form.
    ["application/vnd.kubernetes.protobuf,application/json", { ...object, isCustom: true }, "json"],
    [`application/vnd.kubernetes.protobuf;${partial}`, { ...object, isCustom: true }, "vnd.kubernetes.protobuf PartialObjectMetadata/v1"],
    [table, { transforms: [], mediaTypes: allMediaTypes }, "406"],
    ["application/json", built, "json"],
  ];
  for (const [accept, offer, expected] of cases) {
    if (expected === "406") throws(() => form(accept, offer), { message: /^only the following media types are accepted: / });
    else equal(form(accept, offer), expected, String(accept));
  }
});

test("negotiation: refusals", () => {
  const cases: [accept: string, offer: Offer, code: number, message: string][] = [
    ["text/html", object, 406, "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"],
    ["text/html", built, 406, "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"],
    ["application/*", built, 406, "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"],
    ["text/html", { ...object, listed: ["application/json"] }, 406, "only the following media types are accepted: application/json"],
    [`application/json;${partial}`, list, 406, "you requested PartialObjectMetadata, but the requested object is a list (*core.PodList)"],
    [
      `application/json;${partial.replace("Metadata", "MetadataList")}`,
      object,
      406,
      "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Pod)",
    ],
    [`application/json;${partial.replace("Metadata", "MetadataList")}`, { ...object, goType: "unstructured.Unstructured" }, 500, "content is not a list"],
  ];
  for (const [accept, offer, code, message] of cases) throws(() => negotiate(accept, offer), { message, code }, accept);
});
