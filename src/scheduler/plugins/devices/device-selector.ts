import { dynType } from "../../../apimachinery/cel/check/types.ts";
import { createEnvironment } from "../../../apimachinery/cel/environment.ts";
import { fromJson } from "../../../apimachinery/cel/eval/json-values.ts";
import { activationOf, compile, evaluate } from "../../../apimachinery/cel/program.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { DeviceSelector } from "../../../api/resource-v1/types.ts";
import type { PoolDevice } from "./device-pools.ts";

/** Whether all selectors pick the device; a text is why one of them could not be evaluated. */
export function selects(selectors: readonly DeepReadonly<DeviceSelector>[], device: PoolDevice): boolean | { readonly error: string } {
  for (const [index, { cel }] of selectors.entries()) {
    if (cel === undefined) continue;
    const compilation = compile(environment, cel.expression);
    if (!("program" in compilation)) return { error: `selector #${index}: CEL compile error: ${compilation.errors}` };
    const result = evaluate(compilation.program, activationOf({ device: () => fromJson(celDevice(device), dynType) }));
    if ("error" in result)
      return {
        error: `selector #${index} on device ${device.driver}/${device.pool}/${device.device.name}: CEL runtime error: ${result.error}${hintFor(result.error)}`,
      };
    if (result.value !== true) return false;
  }
  return true;
}

const environment = createEnvironment({ variables: { device: dynType } });

function hintFor(error: string): string {
  return error.startsWith("no such key")
    ? ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
    : "";
}

/** The device as expressions see it: attributes and capacities by domain, the driver's where none is named. */
function celDevice({ driver, device }: PoolDevice): unknown {
  const attributes: Record<string, Record<string, unknown>> = { [driver]: {} };
  for (const [name, { int, bool, string, version }] of Object.entries(device.attributes ?? {}))
    setQualified(attributes, driver, name, int ?? bool ?? string ?? version);
  const capacity: Record<string, Record<string, unknown>> = { [driver]: {} };
  for (const [name, { value }] of Object.entries(device.capacity ?? {})) setQualified(capacity, driver, name, value);
  return { driver, attributes, capacity, allowMultipleAllocations: device.allowMultipleAllocations === true };
}

function setQualified(target: Record<string, Record<string, unknown>>, driver: string, name: string, value: unknown): void {
  const slash = name.indexOf("/");
  const domain = slash < 0 ? driver : name.slice(0, slash);
  (target[domain] ??= {})[slash < 0 ? name : name.slice(slash + 1)] = value;
}
