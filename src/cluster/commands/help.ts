/** `coracle help` and `coracle help COMMAND`. */
import { UsageError } from "./arguments.ts";
import type { Command } from "./commands.ts";

/** Of the commands that start components. */
const startOptions = `
  --data-dir DIR             keys, store and everything else that is made (root: /var/lib/coracle, others: ~/.local/share/coracle)
  --port N                   where the API server listens (6443)
  --bind-address ADDRESS     on which address (0.0.0.0)
  --store lmdb | memory | etcd=URL,…
  --runtime auto | containerd | process | simulated
  --containerd-socket PATH   a containerd that runs already, instead of our own
  --nodes N                  how many (1); with containers each further one has a network namespace and a containerd of its own
  --node-name NAME           the first one's name (the host name)
  --service-cidr CIDR        addresses of Services (10.0.0.0/16)
  --pod-cidr CIDR            addresses of pods (10.244.0.0/16); a node has a /24 of it
  --node-cidr CIDR           addresses of further nodes of this machine (10.243.0.0/24)
  --load-balancer-cidr CIDR  addresses of Services of type LoadBalancer (10.242.0.0/24)
  -v                         shows debug lines`;

const upOptions = `
  --components NAME,…        only these: apiserver, controllers, scheduler, kubelet, proxy, dns, network, cloud, metrics, storage, nodes
  --detach                   in the background; \`coracle logs\` prints what it says
  --apiserver.FLAG=VALUE     any flag of an upstream component; also --controllers, --scheduler, --kubelet, --proxy`;

const testOptions = `
The command gets KUBECONFIG and USE_EXISTING_CLUSTER=true; its exit code is ours, signals are passed on to it.

  --runtime simulated | process | containerd | auto      what pods are (simulated: the API states, without processes)
  --nodes N                  how many simulated nodes (1)
  --node-name NAME           the first one's name (node)
  --components NAME,…        only these (apiserver, controllers, scheduler, kubelet; with other runtimes all)
  --port N                   where the API server listens (a free one), on --bind-address ADDRESS (127.0.0.1)
  --store memory | lmdb | etcd=URL,…
  --service-cidr CIDR, --pod-cidr CIDR, --containerd-socket PATH, --apiserver.FLAG=VALUE and its like      as for \`coracle up\`
  -v                         shows what the cluster says`;

const joinOptions = `
  --token TOKEN              what \`coracle token create\` has printed; needed the first time only, as is SERVER
  --ca-cert-hash sha256:HEX  the authority that is expected`;

const componentOptions = `
  --server URL               the API server (the one that the data directory's kubeconfig names)
  --FLAG=VALUE               any flag of the upstream component`;

const dataDirOption = `
  --data-dir DIR             which instance (root: /var/lib/coracle, others: ~/.local/share/coracle)`;

const optionTexts: Readonly<Record<string, string>> = {
  up: startOptions + upOptions,
  test: testOptions,
  token: `${dataDirOption}\n  --ttl HOURS                how long it can be used (24)`,
  join: joinOptions + startOptions,
  status: `${dataDirOption}\n  --security                 checks how safely it is run, control by control; exit code 1 when one fails`,
  image: `${dataDirOption}\n  --containerd-socket PATH   a containerd that is not the instance's own`,
  ...Object.fromEntries(["down", "reset", "logs", "kubeconfig", "node", "snapshot"].map((name) => [name, dataDirOption])),
  ...Object.fromEntries(["apiserver", "controller-manager", "scheduler", "kubelet", "proxy", "dns"].map((name) => [name, startOptions + componentOptions])),
};

/** The list of commands, or a command's options. Throws UsageError for an unknown one. */
export function helpText(commands: Readonly<Record<string, Command>>, name: string | undefined): string {
  if (name === undefined) {
    const lines = Object.entries(commands).map(([command, { summary }]) => `  ${command.padEnd(20)}${summary}`);
    return `coracle COMMAND [OPTIONS]\n\n${lines.join("\n")}\n\n\`coracle help COMMAND\` lists its options.\n`;
  }
  if (!Object.hasOwn(commands, name)) throw new UsageError(`unknown command ${JSON.stringify(name)}: \`coracle help\` lists them`);
  return `coracle ${name}: ${commands[name]!.summary}\n${optionTexts[name] ?? ""}\n`;
}
