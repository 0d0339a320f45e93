/** Rules of container ports. */
import { duplicate, invalid, invalidEach, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isPortName, isPortNumber } from "../../../apimachinery/formats.ts";
import type { Container, ContainerPort } from "../types.ts";

export const protocols = ["SCTP", "TCP", "UDP"];

export function validateContainerPorts(ports: readonly ContainerPort[], path: FieldPath): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = path.index(index);
    const errors: FieldError[] = [];
    const { name = "", containerPort = 0, hostPort = 0, protocol = "" } = port;
    if (name !== "") {
      const faults = isPortName(name);
      if (faults.length > 0) errors.push(...invalidEach(at.child("name"), name, faults));
      else if (names.has(name)) errors.push(duplicate(at.child("name"), name));
      names.add(name);
    }
    if (containerPort === 0) errors.push(required(at.child("containerPort")));
    else errors.push(...invalidEach(at.child("containerPort"), containerPort, isPortNumber(containerPort)));
    if (hostPort !== 0) errors.push(...invalidEach(at.child("hostPort"), hostPort, isPortNumber(hostPort)));
    if (protocol === "") errors.push(required(at.child("protocol")));
    else if (!protocols.includes(protocol)) errors.push(notSupported(at.child("protocol"), protocol, protocols));
    return errors;
  });
}

/** No host port may be asked for twice among containers that run side by side. */
export function validateHostPorts(containers: readonly Container[], path: FieldPath): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap(({ ports = [] }, container) =>
    ports.flatMap(({ protocol = "", hostIP = "", hostPort = 0 }, index) => {
      if (hostPort === 0) return [];
      const key = `${protocol}/${hostIP}/${hostPort}`;
      const isTaken = taken.has(key);
      taken.add(key);
      return isTaken ? [duplicate(path.index(container).child("ports").index(index).child("hostPort"), key)] : [];
    }),
  );
}

/** In the host's network a host port is the container's; templates may leave it out. */
export function validateHostNetworkPorts(containers: readonly Container[], isPod: boolean, path: FieldPath): FieldError[] {
  return containers.flatMap(({ ports = [] }, container) =>
    ports.flatMap(({ containerPort = 0, hostPort = 0 }, index) =>
      hostPort === containerPort || (hostPort === 0 && !isPod)
        ? []
        : [invalid(path.index(container).child("ports").index(index).child("hostPort"), hostPort, "must match `containerPort` when `hostNetwork` is true")],
    ),
  );
}
