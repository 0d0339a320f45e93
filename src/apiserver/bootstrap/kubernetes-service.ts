/** The Service `default/kubernetes`, through which pods reach the server, its endpoints, and the cluster's ServiceCIDR. */
import { formatTime } from "../../apimachinery/time.ts";
import { createInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";
import { AddressRange } from "../services/address-range.ts";

const labels = { component: "apiserver", provider: "kubernetes" };

export async function createServiceCidr(server: ServerState): Promise<void> {
  const definition = server.resources.find("networking.k8s.io", "v1", "servicecidrs")!;
  if (definition.storage!.cache.get("kubernetes") !== undefined) return;
  await createInternally(server, definition, {
    kind: "ServiceCIDR",
    apiVersion: "networking.k8s.io/v1",
    metadata: { name: "kubernetes" },
    spec: { cidrs: [...server.settings.serviceCidrs] },
  });
  await updateInternally(server, definition, { namespace: "", name: "kubernetes", subresource: "status" }, (old) => ({
    ...old,
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          lastTransitionTime: formatTime(server.clock.nowMs()),
          reason: "",
          message: "Kubernetes default Service CIDR is ready",
        },
      ],
    },
  }));
}

export async function createKubernetesService(server: ServerState): Promise<void> {
  const definition = server.resources.find("", "v1", "services")!;
  if (definition.storage!.cache.get("default/kubernetes") !== undefined) return;
  const nodePort = server.settings.kubernetesServiceNodePort;
  await createInternally(server, definition, {
    kind: "Service",
    apiVersion: "v1",
    metadata: { name: "kubernetes", namespace: "default", labels },
    spec: {
      type: nodePort === 0 ? "ClusterIP" : "NodePort",
      clusterIP: new AddressRange(server.settings.serviceCidrs[0]!).first,
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: server.settings.securePort, ...(nodePort !== 0 && { nodePort }) }],
      sessionAffinity: "None",
      ipFamilyPolicy: "SingleStack",
    },
  });
}
