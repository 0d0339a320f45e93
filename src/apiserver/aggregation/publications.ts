/**
 * What extension API servers publish of themselves: discovery and OpenAPI. Asked for when an APIService becomes available or changes, and once
 * a minute; what was known stays, marked stale, while a server cannot be asked. Driven by the index of APIServices; runs in the server's task
 * group.
 */
import { atOnce } from "../../base/pacer.ts";
import { createHash } from "node:crypto";
import { sleep } from "../../base/clock.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import { encodeDocument } from "../openapi/protobuf/encode-document.ts";
import { messagesV2 } from "../openapi/protobuf/messages-v2.ts";
import type { ServerState } from "../server-state.ts";
import type { RemoteVersion } from "./api-service-index.ts";
import { fetchDocument } from "./fetch-document.ts";
import { aggregatorUser } from "./probe.ts";
import { versionInGroups, versionOfResources } from "./remote-discovery.ts";
import { partBelow } from "./remote-openapi.ts";
import { versionPath } from "./remote-target.ts";

const repeatMs = 60_000;
const groupsType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const openApiUser: UserInfo = { username: "system:aggregator", groups: [] };

interface Publication {
  readonly discovery: JsonObject | undefined;
  readonly isFresh: boolean;
  /** Its part of the version 2 document. */
  readonly v2: JsonObject | undefined;
  /** Where its version 3 document is. */
  readonly v3Url: string | undefined;
}

const nothing: Publication = { discovery: undefined, isFresh: false, v2: undefined, v3Url: undefined };

export class Publications {
  readonly #server: ServerState;
  readonly #known = new Map<string, Publication>();
  /** APIServices as they were when they were last asked. */
  readonly #asked = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #isRepeating = false;

  constructor(server: ServerState) {
    this.#server = server;
  }

  start(): void {
    this.#server.apiServices.onChange(() => this.#follow());
    this.#follow();
  }

  /** Calls `listener` after each change of what is published. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The version's entry in aggregated discovery. */
  discovery({ name, version, isAvailable }: RemoteVersion): JsonObject {
    const { discovery, isFresh } = this.#known.get(name) ?? nothing;
    return { version, ...discovery, freshness: isFresh && isAvailable ? "Current" : "Stale" };
  }

  /** Version 3 documents of others: their URLs by path below `/openapi/v3/`. */
  v3Urls(): ReadonlyMap<string, string> {
    return new Map(
      this.#server.apiServices.remotes.flatMap((remote) => {
        const url = this.#known.get(remote.name)?.v3Url;
        return url === undefined ? [] : [[versionPath(remote).slice(1), url] as const];
      }),
    );
  }

  /** Parts of the version 2 document. */
  v2Parts(): JsonObject[] {
    return this.#server.apiServices.remotes.map(({ name }) => this.#known.get(name)?.v2).filter((part) => part !== undefined);
  }

  #follow(): void {
    const remotes = this.#server.apiServices.remotes;
    const names = new Set(remotes.map(({ name }) => name));
    for (const name of this.#asked.keys()) if (!names.has(name)) this.#forget(name);
    for (const remote of remotes) {
      const digest = JSON.stringify(remote);
      if (this.#asked.get(remote.name) === digest) continue;
      this.#asked.set(remote.name, digest);
      this.#changed();
      if (remote.isAvailable) this.#server.tasks.start(`publications of APIService ${remote.name}`, () => this.#refresh(remote));
    }
    if (remotes.length > 0 && !this.#isRepeating) this.#server.tasks.start("publications of APIServices", (signal) => this.#repeat(signal));
  }

  #forget(name: string): void {
    this.#asked.delete(name);
    this.#known.delete(name);
    this.#changed();
  }

  async #repeat(signal: AbortSignal): Promise<void> {
    this.#isRepeating = true;
    try {
      while (this.#asked.size > 0) {
        await sleep(this.#server.clock, repeatMs, signal);
        await Promise.all(this.#server.apiServices.remotes.filter(({ isAvailable }) => isAvailable).map((remote) => this.#refresh(remote)));
      }
    } finally {
      this.#isRepeating = false;
    }
  }

  /** Never rejects. */
  async #refresh(remote: RemoteVersion): Promise<void> {
    const before = this.#known.get(remote.name) ?? nothing;
    const failures: unknown[] = [];
    const ask = async <T>(fetch: (server: ServerState, remote: RemoteVersion) => Promise<T>): Promise<T | "failed"> =>
      fetch(this.#server, remote).catch((error: unknown) => {
        failures.push(error);
        return "failed";
      });
    const [discovery, v2, v3Url] = await Promise.all([ask(fetchDiscovery), ask(fetchV2), ask(fetchV3Url)]);
    if (failures.length > 0 && !this.#server.tasks.signal.aborted)
      this.#server.log.info("An extension API server did not say what it serves", { name: remote.name, error: failures[0] });
    if (!this.#asked.has(remote.name)) return;
    const next: Publication = {
      discovery: discovery === "failed" ? before.discovery : discovery,
      isFresh: discovery !== "failed" && discovery !== undefined,
      v2: v2 === "failed" ? before.v2 : v2,
      v3Url: v3Url === "failed" ? before.v3Url : v3Url,
    };
    if (JSON.stringify(next) === JSON.stringify(before)) return;
    this.#known.set(remote.name, next);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

async function fetchDiscovery(server: ServerState, remote: RemoteVersion): Promise<JsonObject | undefined> {
  const { group, version } = remote;
  const groups = await fetchDocument(server, remote, { path: "/apis", accept: groupsType, user: aggregatorUser });
  if (groups?.mediaType.includes("g=apidiscovery.k8s.io") === true) return versionInGroups(groups.document, group, version);
  const resources = await fetchDocument(server, remote, { path: versionPath(remote), accept: "application/json", user: aggregatorUser });
  return resources && versionOfResources(resources.document, version);
}

/** What cannot be made part of our own document is refused. */
async function fetchV2(server: ServerState, remote: RemoteVersion): Promise<JsonObject | undefined> {
  const found = await fetchDocument(server, remote, { path: "/openapi/v2", accept: "application/json", user: openApiUser });
  if (found === undefined) return undefined;
  const part = partBelow(found.document, versionPath(remote));
  atOnce(encodeDocument({ swagger: "2.0", info: { title: "", version: "" }, ...part }, messagesV2));
  return part;
}

async function fetchV3Url(server: ServerState, remote: RemoteVersion): Promise<string | undefined> {
  const found = await fetchDocument(server, remote, { path: "/openapi/v3", accept: "application/json", user: openApiUser });
  const paths = found?.document["paths"];
  const path = versionPath(remote).slice(1);
  const entry = paths !== undefined && isObject(paths) ? paths[path] : undefined;
  const url = entry !== undefined && isObject(entry) ? entry["serverRelativeURL"] : undefined;
  // It is asked for here, not there.
  return typeof url === "string" && url.startsWith(`/openapi/v3/${path}`) ? url : undefined;
}

/** Tells apart what was published. */
export function partsSignature(parts: readonly JsonObject[]): string {
  return parts.length === 0 ? "" : createHash("sha512").update(JSON.stringify(parts)).digest("hex");
}
