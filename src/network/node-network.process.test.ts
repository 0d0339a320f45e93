import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { createNetworkNamespaces, startPrograms } from "../host/index.ts";
import { setUpNodeNetwork } from "./node-network.ts";

test("a range that another network of the machine has is told, and nothing is made", { skip: whyNot() ?? false }, async () => {
  const programs = startPrograms({ clock: systemClock() });
  const namespace = `r${process.pid}`;
  const namespaces = createNetworkNamespaces({ programs });
  await namespaces.add(namespace);
  try {
    await namespaces.ip(["link", "add", "other", "type", "bridge"], namespace);
    await namespaces.addAddress("other", "10.77.0.1/24", namespace);
    const within = {
      ...programs,
      run: (spec: Parameters<typeof programs.run>[0], signal?: AbortSignal) =>
        programs.run({ ...spec, command: "ip", args: ["netns", "exec", namespace, spec.command, ...(spec.args ?? [])] }, signal),
    };
    const options = {
      programs: within,
      log: silentLog,
      instanceId: "t",
      podCidrs: ["10.77.0.0/24"],
      clusterCidrs: ["10.77.0.0/16"],
      serviceCidrs: [],
      loadBalancerCidrs: [],
    };
    await assert.rejects(
      setUpNodeNetwork(options),
      /the pods' range 10\.77\.0\.0\/24 is in use: interface other has the address 10\.77\.0\.1; choose another range with --pod-cidr/,
    );
    assert.doesNotMatch(await namespaces.ip(["link", "show"], namespace), /cor-t/);
  } finally {
    await namespaces.remove(namespace);
    await programs.close();
  }
});

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return "needs root";
  try {
    execFileSync("sh", ["-c", "command -v ip"]);
    return undefined;
  } catch {
    return "needs iproute2";
  }
}
