/** `/coracle/v1/snapshot`: the embedded store's whole content at one revision, for who may GET that path (`coracle snapshot save`). */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { writeSnapshot } from "../../../storage/index.ts";
import { plainText } from "../../http/write-response.ts";
import type { RequestContext } from "../../request-context.ts";
import { methodError } from "../dispatch.ts";

export function handleStoreSnapshot({ info, request, server }: RequestContext): ApiResponse | undefined {
  if (info.path !== "/coracle/v1/snapshot") return undefined;
  if (request.method !== "GET") throw methodError();
  if (server.store.backend === "etcd") return plainText(409, "the store is an etcd: save it with `etcdctl snapshot save`");
  return { status: 200, headers: { "content-type": "application/octet-stream" }, body: { kind: "stream", chunks: writeSnapshot(server.store) } };
}
