/** The content of a large cluster: nodes, and pods as a Deployment's are once they run, of about 5.5 KB with their managed fields. */

export const podsPerNamespace = 1_500;

export function nodeOf(index: number): object {
  const name = nodeName(index);
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": `zone-${index % 3}`,
        "node.kubernetes.io/instance-type": "standard-16",
      },
    },
    spec: { podCIDR: `10.${index >> 8}.${index & 255}.0/24`, podCIDRs: [`10.${index >> 8}.${index & 255}.0/24`] },
    status: {
      capacity: { cpu: "16", memory: "65842480Ki", pods: "110", "ephemeral-storage": "100Gi" },
      allocatable: { cpu: "15800m", memory: "64842480Ki", pods: "110", "ephemeral-storage": "95Gi" },
      conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
        type,
        status: type === "Ready" ? "True" : "False",
        reason: `Kubelet${type}`,
        message: `kubelet tells of ${type}`,
        lastHeartbeatTime: "2026-11-30T10:00:00Z",
        lastTransitionTime: "2026-11-30T09:00:00Z",
      })),
      addresses: [
        { type: "InternalIP", address: `172.${16 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}` },
        { type: "Hostname", address: name },
      ],
    },
  };
}

export function nodeName(index: number): string {
  return `node-${String(index).padStart(5, "0")}`;
}

export function namespaceOf(index: number): string {
  return `team-${Math.floor(index / podsPerNamespace)}`;
}

export function podName(index: number): string {
  return `web-7c5ddbdf54-${index.toString(36).padStart(5, "0")}`;
}

/** The pod of a number, on node `node`. */
export function podOf(index: number, node: string): object {
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name: podName(index),
      namespace: namespaceOf(index),
      labels: { app: `web-${index % 50}`, tier: "front", "pod-template-hash": "7c5ddbdf54" },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9100" },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: "web-7c5ddbdf54",
          uid: "6f1c0c4e-7a52-4a53-9d0c-5d3c2f7f9b11",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      nodeName: node,
      serviceAccountName: "default",
      automountServiceAccountToken: false,
      containers: [
        {
          name: "web",
          image: "registry.example.com/shop/web:1.27.3",
          ports: [{ name: "http", containerPort: 8080 }],
          env: ["LOG_LEVEL", "REGION"].map((name) => ({ name, value: `value-of-${name.toLowerCase()}` })),
          resources: { requests: { cpu: "250m", memory: "256Mi" }, limits: { memory: "512Mi" } },
          readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 5 },
          livenessProbe: { httpGet: { path: "/live", port: 8080 }, periodSeconds: 10 },
          volumeMounts: [{ name: "config", mountPath: "/etc/web", readOnly: true }],
        },
      ],
      volumes: [{ name: "config", configMap: { name: "web-config" } }],
    },
  };
}

/** What its kubelet says of it, as a merge patch of its status. `turn` makes one differ from the one before. */
export function statusOf(index: number, turn = 0): object {
  const at = new Date(Date.UTC(2026, 10, 30, 10, 0, turn % 60)).toISOString().replace(".000", "");
  const podIP = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  return {
    status: {
      phase: "Running",
      hostIP: "172.16.0.1",
      hostIPs: [{ ip: "172.16.0.1" }],
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: "2026-11-30T10:00:00Z",
      conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
        type,
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: at,
      })),
      containerStatuses: [
        {
          name: "web",
          ready: true,
          started: true,
          restartCount: turn,
          image: "registry.example.com/shop/web:1.27.3",
          imageID: "registry.example.com/shop/web@sha256:6af79ae5de407283dcea8b00d5c37ace95441fd58a8b1d2aa1ed93f5511bb18c",
          containerID: `containerd://${index.toString(16).padStart(64, "a")}`,
          state: { running: { startedAt: at } },
        },
      ],
    },
  };
}
