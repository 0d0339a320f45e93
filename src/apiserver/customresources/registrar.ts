/**
 * Serves what CustomResourceDefinitions describe, and keeps their status: names, Established, approval, termination with its instances.
 * Driven by the definitions' cache. What is served follows each event at once; writes are made one by one by a background task.
 *
 * Invariants: a definition is served only when it is established and its cache is filled; its `lifetime` aborts when its spec or accepted
 * names change, or when it goes.
 */
import { PendingNames } from "../../base/pending-names.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import type { CacheEvent, ResourceCache } from "../cache/resource-cache.ts";
import { parseStored } from "../cache/stored-object.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { deleteInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ServerState } from "../server-state.ts";
import { webhookConverter } from "./conversion/webhook-converter.ts";
import { isTrue } from "./conditions.ts";
import { resourcesOf } from "./definition.ts";
import type { NameHolder } from "./names.ts";
import { nextStatus } from "./status-plan.ts";
import { cleanupFinalizer, terminationStep } from "./termination.ts";

/** A definition that is being served, or waits to be. */
interface Served {
  readonly cache: ResourceCache;
  readonly stopListening: () => void;
  isLoaded: boolean;
  lifetime: AbortController;
  /** What the resources were made from. */
  spec: unknown;
  names: unknown;
  resources: readonly ResourceDefinition[];
}

/** What is kept of each definition, so that none is parsed for the sake of another. */
interface Known extends NameHolder {
  readonly group: string;
  readonly isNamed: boolean;
}

export class CustomResourceRegistrar {
  readonly #server: ServerState;
  readonly #definitions: ResourceDefinition;
  readonly #served = new Map<string, Served>();
  readonly #known = new Map<string, Known>();
  /** Names of definitions to look at, in order. */
  readonly #pending = new PendingNames();

  constructor(server: ServerState) {
    this.#server = server;
    this.#definitions = server.resources.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")!;
  }

  /** Serves the definitions that there are, then follows them. */
  async start(): Promise<void> {
    const cache = this.#cache;
    cache.listen((event) => this.#follow(event));
    const definitions = [...cache.state.prefixed("")].map(([name, stored]) => [name, parse(stored)] as const);
    for (const [name, crd] of definitions) this.#note(name, crd);
    for (const [name, crd] of definitions) {
      await this.#load(name, crd);
      this.#pending.add(name);
    }
    this.#server.tasks.start("custom resource definitions", (signal) => this.#pending.run(signal, (name) => this.#look(name)));
  }

  get #cache(): ResourceCache {
    return this.#definitions.storage!.cache;
  }

  #follow(event: CacheEvent): void {
    const name = event.object.key;
    const crd = parse(event.object);
    if (event.type === "DELETED") {
      this.#known.delete(name);
      this.#remove(name, crd);
    } else {
      this.#note(name, crd);
      this.#serve(name, crd);
    }
    this.#pending.add(name);
    this.#enqueueWaiting(crd.spec.group, name);
  }

  /** Definitions of a group that miss a name may get it now. */
  #enqueueWaiting(group: string, except: string): void {
    for (const [name, known] of this.#known) if (name !== except && known.group === group && !known.isNamed) this.#pending.add(name);
  }

  #note(name: string, crd: CustomResourceDefinition): void {
    const { acceptedNames } = crd.status ?? {};
    this.#known.set(name, { group: crd.spec.group, isNamed: isTrue(crd, "NamesAccepted"), ...(acceptedNames !== undefined && { status: { acceptedNames } }) });
  }

  async #look(name: string): Promise<void> {
    const stored = this.#cache.get(name);
    if (stored === undefined) return;
    const crd = parse(stored);
    try {
      await this.#load(name, crd);
      if (crd.metadata.deletionTimestamp === undefined) await this.#improveStatus(name, crd);
      else await this.#terminate(name, crd);
    } catch (error) {
      // Somebody else wrote it meanwhile: its event brings us back.
      if (!isConflict(error) && !isNotFound(error)) this.#server.log.warn("Could not reconcile a custom resource definition", { name, error });
    }
  }

  async #improveStatus(name: string, crd: CustomResourceDefinition): Promise<void> {
    const nowMs = this.#server.clock.nowMs();
    if (nextStatus(crd, this.#others(name, crd.spec.group), nowMs) === undefined) return;
    await updateInternally(this.#server, this.#definitions, { namespace: "", name, subresource: "status" }, (old) => {
      const status = nextStatus(old as unknown as CustomResourceDefinition, this.#others(name, crd.spec.group), nowMs);
      return status === undefined ? undefined : ({ ...old, status } as KubeObject);
    });
    this.#pending.add(name);
  }

  /** The other definitions of a group. */
  #others(name: string, group: string): NameHolder[] {
    const others: NameHolder[] = [];
    for (const [other, known] of this.#known) if (other !== name && known.group === group) others.push(known);
    return others;
  }

  async #terminate(name: string, crd: CustomResourceDefinition): Promise<void> {
    if (crd.metadata.finalizers?.includes(cleanupFinalizer) !== true) return;
    const served = this.#served.get(name);
    const instances = served === undefined ? [] : [...served.cache.state.prefixed("")].map(([, stored]) => stored);
    const step = terminationStep(crd, instances.length, this.#server.clock.nowMs());
    if (step.status !== undefined) {
      await updateInternally(
        this.#server,
        this.#definitions,
        { namespace: "", name, subresource: "status" },
        (old) => ({ ...old, status: step.status! }) as KubeObject,
      );
    }
    if (step.kind === "delete instances") await this.#deleteInstances(crd, served!, instances);
    if (step.kind === "finish") {
      await updateInternally(this.#server, this.#definitions, { namespace: "", name }, (old) => {
        old.metadata.finalizers = (old.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
        return old;
      });
    }
  }

  async #deleteInstances(crd: CustomResourceDefinition, served: Served, instances: readonly StoredObject[]): Promise<void> {
    // In the version that they are stored in: a webhook may be gone already.
    const stored = crd.spec.versions?.find(({ storage }) => storage)?.name;
    const resource = resourcesOf({ crd: allServed(crd), cache: served.cache, lifetime: served.lifetime.signal }).find(({ version }) => version === stored);
    for (const instance of instances) {
      const { namespace = "", name = "", deletionTimestamp } = served.cache.parse(instance).metadata;
      if (deletionTimestamp === undefined) await deleteInternally(this.#server, resource!, { namespace, name });
    }
  }

  /** Fills the cache of a definition's objects, once. */
  async #load(name: string, crd: CustomResourceDefinition): Promise<void> {
    if (this.#served.has(name)) return;
    const { cacher, settings } = this.#server;
    const cache = cacher.cache(`${settings.storageRoot}${crd.spec.group}/${crd.spec.names.plural}/`);
    const stopListening = cache.listen((event) => event.type === "DELETED" && cache.state.size === 0 && this.#pending.add(name));
    const served: Served = { cache, stopListening, isLoaded: false, lifetime: new AbortController(), spec: undefined, names: undefined, resources: [] };
    this.#served.set(name, served);
    await cacher.load(cache);
    served.isLoaded = true;
    const now = this.#cache.get(name);
    if (now !== undefined && this.#served.get(name) === served) this.#serve(name, parse(now));
  }

  #serve(name: string, crd: CustomResourceDefinition): void {
    const served = this.#served.get(name);
    if (served === undefined || !served.isLoaded || !isTrue(crd, "Established")) return;
    const { spec } = crd;
    const names = crd.status?.acceptedNames;
    const digest = JSON.stringify(spec);
    if (served.spec !== digest || !deepEqual(served.names, names)) {
      served.lifetime.abort(new DOMException("the definition changed", "AbortError"));
      served.lifetime = new AbortController();
      Object.assign(served, { spec: digest, names });
    }
    const { strategy, webhook = {} } = spec.conversion ?? {};
    const convert = strategy === "Webhook" ? webhookConverter(this.#server, webhook, served.lifetime.signal) : undefined;
    const resources = resourcesOf({ crd, cache: served.cache, lifetime: served.lifetime.signal, convert });
    this.#publish(served, resources);
  }

  #remove(name: string, crd: CustomResourceDefinition): void {
    const served = this.#served.get(name);
    if (served === undefined) return;
    this.#publish(served, []);
    served.lifetime.abort(new DOMException(`the definition ${crd.metadata.name} is gone`, "AbortError"));
    served.stopListening();
    this.#served.delete(name);
    this.#server.cacher.drop(served.cache.prefix);
  }

  #publish(served: Served, resources: readonly ResourceDefinition[]): void {
    const table = this.#server.resources;
    const isServable = ({ group, version }: ResourceDefinition) => !table.isBuiltIn(group, version);
    const shown = resources.filter(isServable);
    for (const old of served.resources) if (!shown.some(({ version }) => version === old.version)) table.remove(old.group, old.version, old.resource);
    for (const resource of shown) table.add(resource);
    served.resources = shown;
  }
}

/** Parsed anew each time: definitions are large, and rarely looked at. */
function parse(stored: StoredObject): CustomResourceDefinition {
  return parseStored(stored) as unknown as CustomResourceDefinition;
}

function allServed(crd: CustomResourceDefinition): CustomResourceDefinition {
  return { ...crd, spec: { ...crd.spec, versions: (crd.spec.versions ?? []).map((version) => ({ ...version, served: true })) } };
}
