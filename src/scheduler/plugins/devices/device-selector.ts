import { activationOf, compile, deviceEnvironment, deviceType, evaluate } from "../../../apimachinery/cel/index.ts";
import { deviceValue } from "./device-value.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { DeviceSelector } from "../../../api/resource-v1/types.ts";
import type { PoolDevice } from "./device-pools.ts";

/** Whether all selectors pick the device; a text is why one of them could not be evaluated. */
export function selects(selectors: readonly DeepReadonly<DeviceSelector>[], device: PoolDevice): boolean | { readonly error: string } {
  for (const [index, { cel }] of selectors.entries()) {
    if (cel === undefined) continue;
    const compilation = compile(environment, cel.expression);
    if (!("program" in compilation)) return { error: `selector #${index}: CEL compile error: ${compilation.errors}` };
    const result = evaluate(compilation.program, activationOf({ device: () => deviceValue(device) }));
    if ("error" in result)
      return {
        error: `selector #${index} on device ${device.driver}/${device.pool}/${device.device.name}: CEL runtime error: ${result.error}${hintFor(result.error)}`,
      };
    if (result.value !== true) return false;
  }
  return true;
}

const environment = deviceEnvironment.withVariables({ device: deviceType });

function hintFor(error: string): string {
  return error.startsWith("no such key")
    ? ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
    : "";
}
