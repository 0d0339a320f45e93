/** Agents over HTTP, in the pods. */
import { agentPort } from "./agent.ts";
import type { AgentState, Agents, Instance, Order } from "./agent.ts";

const orderTimeoutMs = 1000;

export const httpAgents: Agents = {
  async state(instance, at, { signal, timeoutMs }) {
    try {
      const response = await fetch(`${urlOf(instance)}/state?at=${at}`, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
      return response.ok ? ((await response.json()) as AgentState) : undefined;
    } catch (error) {
      signal.throwIfAborted();
      // Whatever keeps it from answering: for the decision it is out of reach.
      if (error instanceof Error) return undefined;
      throw error;
    }
  },
  async send(instance, order: Order, at, signal) {
    const response = await fetch(`${urlOf(instance)}/order?at=${at}`, {
      method: "POST",
      body: JSON.stringify(order),
      signal: AbortSignal.any([signal, AbortSignal.timeout(orderTimeoutMs)]),
    });
    if (!response.ok) throw new Error(`${instance.pod} refused to ${order.kind}: ${await response.text()}`);
  },
};

function urlOf({ podIP }: Instance): string {
  return `http://${podIP}:${agentPort}`;
}
