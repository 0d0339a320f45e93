import { cidrsOf, familyWords, tableSkeleton } from "./table-skeleton.ts";
import type { TableOptions } from "./table-skeleton.ts";
import type { Chain, DynamicSet, MapElement, RuleUnit } from "./rule-units.ts";

/**
 * What one table holds, and who asked for it. Driven by the dataplane: it records changes with `put` and takes them as one transaction
 * with `takeChanges`; after a refused transaction it takes the whole table with `takeAll`.
 * Invariants: a claim's first owner has it, and the next one gets it when that one lets go; `takeChanges` leads from the state of the
 * last taken script to the present one.
 */
export class RuleLedger {
  readonly #options: TableOptions;
  readonly #claims = new Map<string, { owner: string; unit: RuleUnit }[]>();
  readonly #claimsOfOwner = new Map<string, readonly string[]>();
  /** What each changed claim stood for in the last script. */
  readonly #changed = new Map<string, RuleUnit | undefined>();
  #serviceCidrs = "";
  #hasNewServiceCidrs = false;

  constructor(options: TableOptions) {
    this.#options = options;
  }

  /** The owner's units from now on; an empty list takes all away. */
  put(owner: string, units: readonly RuleUnit[]): void {
    const claims = new Set(units.map(({ claim }) => claim));
    for (const claim of this.#claimsOfOwner.get(owner) ?? []) if (!claims.has(claim)) this.#set(claim, owner, undefined);
    for (const unit of units) this.#set(unit.claim, owner, unit);
    if (claims.size === 0) this.#claimsOfOwner.delete(owner);
    else this.#claimsOfOwner.set(owner, [...claims]);
  }

  /** Owners whose claim stands behind another's: `[claim, owner that has it]`. */
  conflictsOf(owner: string): [string, string][] {
    return (this.#claimsOfOwner.get(owner) ?? []).flatMap((claim) => {
      const first = this.#claims.get(claim)?.[0];
      return first === undefined || first.owner === owner || first.unit.claim.startsWith("hairpin ") ? [] : [[claim, first.owner]];
    });
  }

  setServiceCidrs(cidrs: readonly string[]): void {
    const text = cidrsOf(cidrs, this.#options.family);
    if (text === this.#serviceCidrs) return;
    this.#serviceCidrs = text;
    this.#hasNewServiceCidrs = true;
  }

  /** The transaction for what changed since the last one; empty when nothing did. */
  takeChanges(): string {
    const script = new Transaction(this.#options);
    for (const [claim, before] of this.#changed) script.replace(before, this.#claims.get(claim)?.[0]?.unit);
    this.#changed.clear();
    return this.#serviceCidrLines() + script.text();
  }

  /** The transaction that makes the table anew. */
  takeAll(): string {
    this.#changed.clear();
    this.#hasNewServiceCidrs = this.#serviceCidrs !== "";
    const script = new Transaction(this.#options);
    for (const owners of this.#claims.values()) script.replace(undefined, owners[0]?.unit);
    return tableSkeleton(this.#options) + this.#serviceCidrLines() + script.text();
  }

  #set(claim: string, owner: string, unit: RuleUnit | undefined): void {
    const owners = this.#claims.get(claim) ?? [];
    if (!this.#changed.has(claim)) this.#changed.set(claim, owners[0]?.unit);
    const index = owners.findIndex((entry) => entry.owner === owner);
    if (unit === undefined) {
      if (index >= 0) owners.splice(index, 1);
    } else if (index >= 0) owners[index] = { owner, unit };
    else owners.push({ owner, unit });
    if (owners.length === 0) this.#claims.delete(claim);
    else this.#claims.set(claim, owners);
  }

  #serviceCidrLines(): string {
    if (!this.#hasNewServiceCidrs) return "";
    this.#hasNewServiceCidrs = false;
    const set = `${familyWords(this.#options.family).table} ${this.#options.table} service-cidrs`;
    return `flush set ${set}\n${this.#serviceCidrs === "" ? "" : `add element ${set} { ${this.#serviceCidrs} }\n`}`;
  }
}

/** Collects replacements and orders their lines so that each refers only to what exists. */
class Transaction {
  readonly #where: string;
  readonly #address: string;
  readonly #removed = new Map<string, string[]>();
  readonly #added = new Map<string, string[]>();
  readonly #newSets: string[] = [];
  readonly #goneSets: string[] = [];
  readonly #newChains: string[] = [];
  readonly #flushedChains: string[] = [];
  readonly #rules: string[] = [];
  readonly #goneChains: string[] = [];

  constructor(options: TableOptions) {
    const words = familyWords(options.family);
    this.#where = `${words.table} ${options.table}`;
    this.#address = words.address;
  }

  replace(before: RuleUnit | undefined, after: RuleUnit | undefined): void {
    if (before === after) return;
    this.#replaceElements(before?.elements ?? [], after?.elements ?? []);
    this.#replaceSets(before?.sets ?? [], after?.sets ?? []);
    this.#replaceChains(before?.chains ?? [], after?.chains ?? []);
  }

  text(): string {
    const elements = (verb: string, changes: ReadonlyMap<string, string[]>) =>
      [...changes].map(([map, list]) => `${verb} element ${this.#where} ${map} { ${list.join(", ")} }`);
    const lines = [
      ...this.#newSets,
      ...this.#newChains,
      ...this.#flushedChains.map((name) => `flush chain ${this.#where} ${name}`),
      ...elements("delete", this.#removed),
      ...this.#rules,
      ...elements("add", this.#added),
      ...this.#goneChains.map((name) => `delete chain ${this.#where} ${name}`),
      ...this.#goneSets.map((name) => `delete set ${this.#where} ${name}`),
    ];
    return lines.map((line) => `${line}\n`).join("");
  }

  #replaceElements(before: readonly MapElement[], after: readonly MapElement[]): void {
    const wanted = new Set(after.map(elementText));
    const present = new Set(before.map(elementText));
    for (const element of before) if (!wanted.has(elementText(element))) append(this.#removed, element.map, pairText(element));
    for (const element of after) if (!present.has(elementText(element))) append(this.#added, element.map, pairText(element));
  }

  /** A set's name tells its timeout: sets of one name are the same. */
  #replaceSets(before: readonly DynamicSet[], after: readonly DynamicSet[]): void {
    const wanted = new Set(after.map(({ name }) => name));
    const present = new Set(before.map(({ name }) => name));
    for (const { name } of before) if (!wanted.has(name)) this.#goneSets.push(name);
    for (const { name, timeoutSeconds } of after)
      if (!present.has(name))
        this.#newSets.push(`add set ${this.#where} ${name} { type ${this.#address}; flags dynamic, timeout; timeout ${timeoutSeconds}s; }`);
  }

  #replaceChains(before: readonly Chain[], after: readonly Chain[]): void {
    const wanted = new Map(after.map((chain) => [chain.name, chain]));
    const present = new Map(before.map((chain) => [chain.name, chain]));
    for (const { name } of before) {
      if (wanted.has(name)) continue;
      this.#flushedChains.push(name);
      this.#goneChains.push(name);
    }
    for (const chain of after) this.#putChain(chain, present.get(chain.name));
  }

  #putChain(chain: Chain, before: Chain | undefined): void {
    if (before !== undefined && before.rules.join("\n") === chain.rules.join("\n")) return;
    if (before === undefined) this.#newChains.push(`add chain ${this.#where} ${chain.name}`);
    else this.#flushedChains.push(chain.name);
    for (const rule of chain.rules) this.#rules.push(`add rule ${this.#where} ${chain.name} ${rule}`);
  }
}

const pairText = ({ key, value }: MapElement) => (value === "" ? key : `${key} : ${value}`);
const elementText = (element: MapElement) => `${element.map} ${pairText(element)}`;

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
