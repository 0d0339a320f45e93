/** Variables that tell a container of the Services of its namespace (documentation page "Service", "Environment variables"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Service } from "../../api/core-v1/types.ts";

/** `kubernetes` of namespace `default` is told everywhere; the others only with `enableServiceLinks`. */
export function serviceVariables(services: readonly DeepReadonly<Service>[], namespace: string, isLinked: boolean): Map<string, string> {
  const chosen = new Map<string, DeepReadonly<Service>>();
  for (const service of services) {
    const { name = "", namespace: home = "" } = service.metadata;
    const address = service.spec?.clusterIP ?? "";
    if (address === "" || address === "None") continue;
    if (home === "default" && name === "kubernetes") {
      if (!chosen.has(name)) chosen.set(name, service);
    } else if (isLinked && home === namespace) chosen.set(name, service);
  }
  const variables = new Map<string, string>();
  for (const service of chosen.values()) addService(variables, service);
  return variables;
}

function addService(variables: Map<string, string>, service: DeepReadonly<Service>): void {
  const prefix = variableName(service.metadata.name ?? "");
  const ports = service.spec?.ports ?? [];
  const [first] = ports;
  if (first === undefined) return;
  const address = service.spec!.clusterIP!;
  const host = address.includes(":") ? `[${address}]` : address;
  variables.set(`${prefix}_SERVICE_HOST`, address);
  variables.set(`${prefix}_SERVICE_PORT`, String(first.port));
  for (const { name, port } of ports) if (name !== undefined && name !== "") variables.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port));
  ports.forEach(({ port, protocol = "TCP" }, index) => {
    const lower = protocol.toLowerCase();
    const portPrefix = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    if (index === 0) variables.set(`${prefix}_PORT`, `${lower}://${host}:${port}`);
    variables.set(portPrefix, `${lower}://${host}:${port}`);
    variables.set(`${portPrefix}_PROTO`, lower);
    variables.set(`${portPrefix}_PORT`, String(port));
    variables.set(`${portPrefix}_ADDR`, address);
  });
}

const variableName = (name: string) => name.toUpperCase().replaceAll("-", "_");
