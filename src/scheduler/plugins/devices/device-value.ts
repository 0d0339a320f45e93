import { ArrayList, fromJson, deviceType, mapOf, MapValue, ObjectValue, QuantityValue, toSemver } from "../../../apimachinery/cel/index.ts";
import { toQuantity } from "../../../apimachinery/quantity.ts";
import type { CelType, Value } from "../../../apimachinery/cel/index.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { DeviceAttribute } from "../../../api/resource-v1/types.ts";
import type { PoolDevice } from "./device-pools.ts";

/** `device` as selectors see it: attributes and capacities by domain, the driver's own where a name has none. */
export function deviceValue(device: PoolDevice): ObjectValue {
  let known = values.get(device);
  if (known === undefined) values.set(device, (known = new DeviceValue(device)));
  return known;
}

const values = new WeakMap<PoolDevice, DeviceValue>();
const dyn: CelType = { kind: "dyn" };
const nothing = mapOf([]);

class DeviceValue extends ObjectValue {
  readonly typeName = deviceType.name;
  readonly #fields: Readonly<Record<string, Value>>;

  constructor({ driver, device }: PoolDevice) {
    super();
    this.#fields = {
      driver,
      allowMultipleAllocations: device.allowMultipleAllocations === true,
      attributes: new Domains(driver, Object.entries(device.attributes ?? {}), attributeValue),
      capacity: new Domains(driver, Object.entries(device.capacity ?? {}), ({ value }) => new QuantityValue(toQuantity(value))),
    };
  }

  override field(name: string): Value | undefined {
    return this.#fields[name];
  }

  override fieldNames(): Iterable<string> {
    return Object.keys(this.#fields);
  }
}

/** By domain, then by name; a domain that nothing was said about is empty, not missing. */
class Domains<T> extends MapValue {
  readonly #byDomain: ReadonlyMap<string, Value>;

  constructor(driver: string, entries: readonly (readonly [string, T])[], valueOf: (entry: T) => Value) {
    super();
    const items = entries.map(([qualified, entry]) => {
      const slash = qualified.indexOf("/");
      return { domain: slash < 0 ? driver : qualified.slice(0, slash), name: qualified.slice(slash + 1), value: valueOf(entry) };
    });
    const grouped = Map.groupBy(items, ({ domain }) => domain);
    this.#byDomain = new Map(Array.from(grouped, ([domain, own]) => [domain, mapOf(own.map(({ name, value }) => [name, value] as const))]));
  }

  override get size(): number {
    return this.#byDomain.size;
  }

  override get(key: Value): Value | undefined {
    return typeof key === "string" ? (this.#byDomain.get(key) ?? nothing) : undefined;
  }

  override keys(): Iterable<Value> {
    return this.#byDomain.keys();
  }
}

function attributeValue({ int, bool, string, version, ints, bools, strings, versions }: DeepReadonly<DeviceAttribute>): Value {
  if (version !== undefined) return toSemver(version);
  const list = ints ?? bools ?? strings;
  if (list !== undefined) return new ArrayList(list.map((item) => fromJson(item, dyn)));
  if (versions !== undefined) return new ArrayList(versions.map((item) => toSemver(item)));
  return fromJson(int ?? bool ?? string, dyn);
}
