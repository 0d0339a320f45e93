/** Every resource the server serves, found by group, version and name. Built-in ones are there from the start, custom ones come and go. */
import type { ResourceDefinition } from "./resource-definition.ts";

export class ResourceTable {
  readonly #byPath = new Map<string, ResourceDefinition>();
  /** The same by group, version and name in turn: every request asks several times, and no path has to be put together. */
  readonly #nested = new Map<string, Map<string, Map<string, ResourceDefinition>>>();
  readonly #versions = new Map<string, string[]>();
  /** `group/version` of what is not made by definitions. */
  readonly #builtIn = new Set<string>();
  readonly #changeListeners = new Set<() => void>();

  add(definition: ResourceDefinition): void {
    const { group, version, resource } = definition;
    if (!definition.isCustom) this.#builtIn.add(`${group}/${version}`);
    this.#byPath.set(`${group}/${version}/${resource}`, definition);
    memberOf(memberOf(this.#nested, group), version).set(resource, definition);
    const versions = this.#versions.get(group) ?? [];
    if (!versions.includes(version)) this.#versions.set(group, [...versions, version]);
    for (const listener of this.#changeListeners) listener();
  }

  remove(group: string, version: string, resource: string): void {
    this.#byPath.delete(`${group}/${version}/${resource}`);
    this.#nested.get(group)?.get(version)?.delete(resource);
    const isServed = [...this.#byPath.values()].some((definition) => definition.group === group && definition.version === version);
    if (!isServed) {
      const rest = (this.#versions.get(group) ?? []).filter((name) => name !== version);
      if (rest.length === 0) this.#versions.delete(group);
      else this.#versions.set(group, rest);
    }
    for (const listener of this.#changeListeners) listener();
  }

  find(group: string, version: string, resource: string): ResourceDefinition | undefined {
    return this.#nested.get(group)?.get(version)?.get(resource);
  }

  /** The resource in the first served version of its group. */
  preferred(group: string, resource: string): ResourceDefinition | undefined {
    for (const version of this.#versions.get(group) ?? []) {
      const definition = this.find(group, version, resource);
      if (definition !== undefined) return definition;
    }
    return undefined;
  }

  byKind(group: string, version: string, kind: string): ResourceDefinition | undefined {
    for (const definition of this.#byPath.values()) {
      if (definition.kind === kind && definition.group === group && definition.version === version) return definition;
    }
    return undefined;
  }

  hasGroup(group: string): boolean {
    return this.#versions.has(group);
  }

  hasVersion(group: string, version: string): boolean {
    return this.#versions.get(group)?.includes(version) === true;
  }

  /** Whether the server itself defines resources of this version: definitions cannot add to it. */
  isBuiltIn(group: string, version: string): boolean {
    return this.#builtIn.has(`${group}/${version}`);
  }

  /** Whether definitions have added to the group. */
  hasCustom(group: string): boolean {
    return (this.#versions.get(group) ?? []).some((version) => !this.isBuiltIn(group, version));
  }

  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  [Symbol.iterator](): IterableIterator<ResourceDefinition> {
    return this.#byPath.values();
  }
}

function memberOf<Value>(map: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  let member = map.get(key);
  if (member === undefined) map.set(key, (member = new Map<string, Value>()));
  return member;
}
