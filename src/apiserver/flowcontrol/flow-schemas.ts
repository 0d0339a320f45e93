/** Flow schemas in the order in which they are asked, and the headers that name the one a request belongs to. Kept until a schema or level changes. */
import type { FlowSchema } from "../../api/flowcontrol-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { follow } from "../cache/follow.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { schemaMatches } from "./matching.ts";

export class FlowSchemas {
  readonly #schemas: ResourceCache;
  readonly #levels: ResourceCache;
  readonly #refresh: readonly (() => void)[];
  #inOrder: readonly ClassifiedFlow[] | undefined;

  constructor(caches: { readonly schemas: ResourceCache; readonly levels: ResourceCache }) {
    this.#schemas = caches.schemas;
    this.#levels = caches.levels;
    const forget = () => (this.#inOrder = undefined);
    this.#refresh = [caches.schemas, caches.levels].map((cache) => follow(cache, { reset: forget, apply: forget }));
  }

  /** The headers of a request's answer; undefined when no schema is for it. */
  headersFor(user: UserInfo, info: RequestInfo): Readonly<Record<string, string>> | undefined {
    for (const refresh of this.#refresh) refresh();
    this.#inOrder ??= this.#read();
    return this.#inOrder.find(({ schema }) => schemaMatches(schema, user, info))?.headers;
  }

  #read(): readonly ClassifiedFlow[] {
    const schemas = [...this.#schemas.state.entries()].map(([, stored]) => this.#schemas.parse(stored) as unknown as FlowSchema);
    return schemas.sort(byPrecedence).map((schema) => {
      const stored = this.#levels.get(schema.spec!.priorityLevelConfiguration!.name!);
      const level = stored && this.#levels.parse(stored);
      return { schema, headers: { "x-kubernetes-pf-flowschema-uid": schema.metadata.uid!, ...(level !== undefined && { "x-kubernetes-pf-prioritylevel-uid": level.metadata.uid! }) } };
    });
  }
}

interface ClassifiedFlow {
  readonly schema: FlowSchema;
  readonly headers: Readonly<Record<string, string>>;
}

function byPrecedence(a: FlowSchema, b: FlowSchema): number {
  return (a.spec!.matchingPrecedence ?? 0) - (b.spec!.matchingPrecedence ?? 0) || (a.metadata.name! < b.metadata.name! ? -1 : 1);
}
