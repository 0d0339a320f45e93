/** An APIService for each group-version that the server serves itself (documentation page "Kubernetes API Aggregation Layer"). */
import data from "../../api/data/bootstrap-objects.json" with { type: "json" };
import { createInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

export async function createApiServices(server: ServerState): Promise<void> {
  const definition = server.resources.find("apiregistration.k8s.io", "v1", "apiservices")!;
  const wanted = (data.objects as unknown as KubeObject[]).filter((object) => object.kind === "APIService");
  for (const { status, ...object } of wanted) {
    const name = object.metadata.name!;
    if (definition.storage!.cache.get(name) !== undefined) continue;
    await createInternally(server, definition, object);
    await updateInternally(server, definition, { namespace: "", name, subresource: "status" }, (old) => ({
      ...old,
      status: JSON.parse(JSON.stringify(status).replaceAll('"<time>"', JSON.stringify(old.metadata.creationTimestamp))) as object,
    }));
  }
}
