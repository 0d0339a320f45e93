/** Subresources by name. Those that show the whole object share the handlers of the main resource. */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import type { ResourceDefinition, SubresourceDefinition } from "../../registry/resource-definition.ts";
import type { RequestContext } from "../../request-context.ts";
import { handleBinding } from "./binding.ts";
import { methodError, noResourceError } from "../dispatch.ts";
import { handleEviction } from "./eviction.ts";
import { handleGet } from "../reading/get.ts";
import { handlePatch } from "../writing/patch.ts";
import { handlePodConnect } from "./pod-connect.ts";
import { handleProxy } from "./proxy.ts";
import { handleScale } from "./scale.ts";
import { handleTokenRequest } from "./token-request.ts";
import { handleUpdate } from "../writing/update.ts";

export async function handleSubresource(context: RequestContext, definition: ResourceDefinition, subresource: SubresourceDefinition): Promise<ApiResponse> {
  switch (subresource.name) {
    case "scale":
      return handleScale(context, definition);
    case "binding":
      return handleBinding(context, definition);
    case "eviction":
      return handleEviction(context, definition);
    case "token":
      return handleTokenRequest(context, definition);
    case "log":
    case "exec":
    case "attach":
    case "portforward":
      return handlePodConnect(context, definition, subresource.name);
    case "proxy":
      return handleProxy(context, definition);
    default:
      return wholeObject(context, definition);
  }
}

/** `status`, `finalize`, `approval`, `ephemeralcontainers`, `resize`: the object itself, written by other rules. */
function wholeObject(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const strategy = definition.strategy;
  if (strategy === undefined) throw noResourceError();
  switch (context.request.method) {
    case "GET":
      return handleGet(context, definition);
    case "PUT":
      return handleUpdate(context, definition);
    case "PATCH":
      return handlePatch(context, definition);
    default:
      throw methodError();
  }
}
