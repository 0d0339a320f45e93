/** What a probe's or a hook's handler says to do, and what came of it, with Kubernetes' texts. */
import { deadline } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { HTTPGetAction, Probe, TCPSocketAction } from "../../api/core-v1/types.ts";
import type { AnyContainer } from "../pod-sync/runtime-names.ts";
import { RuntimeError } from "../runtime/cri.ts";
import type { RuntimeService } from "../runtime/cri.ts";
import type { HttpCall, NetworkCalls } from "./network-calls.ts";
import { timeoutMs } from "./probe-state.ts";
import type { ProbeOutcome } from "./probe-state.ts";

export interface HandlerTarget {
  readonly container: AnyContainer;
  readonly containerId: string;
  readonly podIP: string;
}

export interface HandlerTools {
  readonly runtime: RuntimeService;
  readonly network: NetworkCalls;
  readonly clock: Clock;
}

/** One try of a probe. Never rejects, but with the signal's reason. */
export async function callProbe(probe: DeepReadonly<Probe>, target: HandlerTarget, tools: HandlerTools, signal: AbortSignal): Promise<ProbeOutcome> {
  if (probe.exec !== undefined) return execProbe(probe, target, tools, signal);
  if (!tools.runtime.hasNetwork) return { isSuccess: true };
  const limit = deadline(tools.clock, timeoutMs(probe), signal);
  try {
    if (probe.httpGet !== undefined) return await httpProbe(httpCall(probe.httpGet, target), tools.network, limit.signal);
    if (probe.tcpSocket !== undefined) await tools.network.tcp(tcpAddress(probe.tcpSocket, target), limit.signal);
    else if (probe.grpc !== undefined) {
      const status = await tools.network.grpc({ host: target.podIP, port: probe.grpc.port, service: probe.grpc.service ?? "" }, limit.signal);
      if (status !== "SERVING") return { isSuccess: false, message: `service unhealthy (responded with ${JSON.stringify(status)})` };
    }
    return { isSuccess: true };
  } catch (error) {
    signal.throwIfAborted();
    return { isSuccess: false, message: error instanceof Error ? error.message : String(error) };
  } finally {
    limit.cancel();
  }
}

export function httpCall(action: DeepReadonly<HTTPGetAction>, { container, podIP }: HandlerTarget): HttpCall {
  const path = action.path ?? "/";
  return {
    scheme: action.scheme === "HTTPS" ? "HTTPS" : "HTTP",
    host: action.host === undefined || action.host === "" ? podIP : action.host,
    port: portNumber(action.port, container),
    path: path.startsWith("/") ? path : `/${path}`,
    headers: action.httpHeaders ?? [],
  };
}

export function tcpAddress(action: DeepReadonly<TCPSocketAction>, { container, podIP }: HandlerTarget): { host: string; port: number } {
  return { host: action.host === undefined || action.host === "" ? podIP : action.host, port: portNumber(action.port, container) };
}

async function execProbe(probe: DeepReadonly<Probe>, target: HandlerTarget, { runtime }: HandlerTools, signal: AbortSignal): Promise<ProbeOutcome> {
  const timeoutSeconds = timeoutMs(probe) / 1000;
  try {
    const result = await runtime.execSync({ container_id: target.containerId, cmd: probe.exec?.command ?? [], timeoutSeconds }, signal);
    return result.exit_code === 0
      ? { isSuccess: true }
      : { isSuccess: false, message: Buffer.concat([result.stdout, result.stderr]).toString("utf8").slice(0, maxOutput) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RuntimeError && error.reason === "DeadlineExceeded") {
      const command = (probe.exec?.command ?? []).join(" ");
      return { isSuccess: false, message: `command timed out: ${JSON.stringify(command)} timed out after ${timeoutSeconds}s` };
    }
    return { isSuccess: false, message: error instanceof RuntimeError ? error.rpcMessage : String(error) };
  }
}

async function httpProbe(call: HttpCall, network: NetworkCalls, signal: AbortSignal): Promise<ProbeOutcome> {
  const { status } = await network.http(call, signal);
  return status >= 200 && status < 400 ? { isSuccess: true } : { isSuccess: false, message: `HTTP probe failed with statuscode: ${status}` };
}

const maxOutput = 10 * 1024;

function portNumber(port: number | string, container: AnyContainer): number {
  if (typeof port === "number") return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const value = named ?? Number(port);
  if (!Number.isInteger(value)) throw new Error(`couldn't find port: ${JSON.stringify(port)} in container ${container.name}`);
  return value;
}
