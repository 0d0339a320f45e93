/** The options of a request as an object of their kind: CreateOptions, UpdateOptions (of patches, too), DeleteOptions; of connections, what they ask for. */
import { canonicalize } from "../../../apimachinery/encode/canonical.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import { apiVersionOf } from "../../../apimachinery/object.ts";
import type { GroupVersionKind } from "../../../apimachinery/object.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { isTrue } from "../../http/request-info.ts";
import type { AdmissionRequest } from "../chain.ts";

/** Null for connections. */
export function optionsOf({ operation, context, isDryRun }: AdmissionRequest): JsonObject | null {
  const { query, request } = context;
  const apiVersion = "meta.k8s.io/v1";
  switch (operation) {
    case "CONNECT":
      return null;
    case "DELETE":
      return { kind: "DeleteOptions", apiVersion, ...deleteOptions(request.body, query) };
    case "CREATE":
    case "UPDATE": {
      const [fieldManager, fieldValidation] = [query.get("fieldManager") ?? "", query.get("fieldValidation") ?? ""];
      return {
        kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions",
        apiVersion,
        ...(isDryRun && { dryRun: ["All"] }),
        ...(fieldManager !== "" && { fieldManager }),
        ...(fieldValidation !== "" && { fieldValidation }),
      };
    }
  }
}

function deleteOptions(body: Uint8Array, query: URLSearchParams): JsonObject {
  if (body.length > 0) return optionsInBody(body);
  const [grace, policy, dryRun] = [query.get("gracePeriodSeconds"), query.get("propagationPolicy"), query.getAll("dryRun")];
  return {
    ...(grace !== null && { gracePeriodSeconds: Number(grace) }),
    ...(policy !== null && { propagationPolicy: policy }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

function optionsInBody(body: Uint8Array): JsonObject {
  let read: JsonValue;
  try {
    read = JSON.parse(Buffer.from(body).toString()) as JsonValue;
  } catch {
    // The body was decoded before; one in another media type is not shown.
    return {};
  }
  if (!isObject(read)) return {};
  const { kind: _kind, apiVersion: _apiVersion, ...options } = read;
  return options;
}

const flags = ["stdin", "stdout", "stderr", "tty"];

/** PodExecOptions and the like, from the query and the path. */
export function connectOptions({ context, name }: AdmissionRequest, { group, version, kind }: GroupVersionKind): JsonObject {
  const { query, request } = context;
  const given: JsonObject = {};
  for (const flag of flags) if (isTrue(query.get(flag))) given[flag] = true;
  const [container, commands, ports] = [query.get("container") ?? "", query.getAll("command"), query.getAll("ports")];
  if (container !== "") given["container"] = container;
  if (commands.length > 0) given["command"] = commands;
  if (ports.length > 0) given["ports"] = ports.map(Number);
  const marker = `/${name}/proxy/`;
  const at = decodeURI(request.path).indexOf(marker);
  if (kind.endsWith("ProxyOptions") && at >= 0) given["path"] = decodeURI(request.path).slice(at + marker.length - 1);
  const schema = typeRegistry.kind(group, version, kind);
  return { kind, apiVersion: apiVersionOf(group, version), ...(schema === undefined ? given : canonicalize(given, schema)) };
}
