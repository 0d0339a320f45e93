/** Lifecycle hooks of containers (documentation page "Container Lifecycle Hooks"). */
import { sleep } from "../../base/clock.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { LifecycleHandler } from "../../api/core-v1/types.ts";
import { httpCall, tcpAddress } from "../probes/handler-calls.ts";
import type { HandlerTarget, HandlerTools } from "../probes/handler-calls.ts";

/** Runs a hook to its end; rejects when it fails, with the signal's reason when aborted. */
export async function runHook(handler: DeepReadonly<LifecycleHandler>, target: HandlerTarget, tools: HandlerTools, signal: AbortSignal): Promise<void> {
  if (handler.exec !== undefined) {
    const command = handler.exec.command ?? [];
    const result = await tools.runtime.execSync({ container_id: target.containerId, cmd: command, timeoutSeconds: 0 }, signal);
    if (result.exit_code !== 0)
      throw new Error(`command '${command.join(" ")}' exited with ${result.exit_code}: ${Buffer.concat([result.stdout, result.stderr]).toString("utf8")}`);
  } else if (handler.sleep !== undefined) {
    await sleep(tools.clock, handler.sleep.seconds * 1000, signal);
  } else if (!tools.runtime.hasNetwork) {
    return;
  } else if (handler.httpGet !== undefined) {
    const { status } = await tools.network.http(httpCall(handler.httpGet, target), signal);
    if (status < 200 || status >= 400) throw new Error(`HTTP hook failed with statuscode: ${status}`);
  } else if (handler.tcpSocket !== undefined) {
    await tools.network.tcp(tcpAddress(handler.tcpSocket, target), signal);
  }
}
