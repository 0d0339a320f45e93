/** The objects of the benchmark, as a person would write them. */
const podSpec = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 1 };
const container = { name: "pause", image: "registry.k8s.io/pause:3.10", resources: { requests: { cpu: "10m", memory: "16Mi" } } };

export function deployment(name: string, replicas: number, annotations: Record<string, string> = {}): object {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec: { ...podSpec, containers: [container] } } },
  };
}

/** Its pod ends well after a tenth of a second. */
export function job(name: string): object {
  const template = {
    metadata: { annotations: { "simulated.coracle.dev/exit": "after=100ms" } },
    spec: { ...podSpec, restartPolicy: "Never", containers: [container] },
  };
  return { metadata: { name }, spec: { template } };
}

/** Of pods that use four times what they ask for: it wants `maxReplicas`. */
export function autoscaler(name: string, maxReplicas: number): object {
  const metrics = [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }];
  return { metadata: { name }, spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name }, minReplicas: 1, maxReplicas, metrics } };
}

export function service(name: string): object {
  return { metadata: { name }, spec: { selector: { app: name }, ports: [{ port: 80 }] } };
}
