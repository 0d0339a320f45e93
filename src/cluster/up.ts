/** `coracle up`: every component in one process, in the foreground, until a signal. */
import { mkdir } from "node:fs/promises";
import { loopbackConnection } from "./api-connection.ts";
import { Certificates } from "./certificates.ts";
import { startApiServer } from "./components/apiserver.ts";
import { startComponents } from "./components/start-components.ts";
import { realEnvironment } from "./environment.ts";
import { writeProcessId } from "./process-id.ts";
import { waitForSignal } from "./signals.ts";
import type { UpOptions } from "./up-options.ts";

/** Runs until SIGTERM or SIGINT, then stops in order; a second signal ends the process at once. */
export async function runUp(options: UpOptions): Promise<void> {
  const environment = realEnvironment(options.isVerbose);
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const certificates = new Certificates(options.dataDir, environment.clock);
  const signal = waitForSignal();
  await using apiServer = await startApiServer(environment, options, certificates);
  await using api = loopbackConnection(apiServer.url, apiServer.server.handle);
  await using _components = await startComponents({ environment, options, certificates, api });
  await writeProcessId(options.dataDir);
  announce(apiServer.kubeconfigPath);
  await signal;
  environment.log.info("Stopping");
}

function announce(kubeconfig: string): void {
  process.stdout.write(`
Kubernetes is ready.

  export KUBECONFIG=${kubeconfig}

Try:
  bin/kubectl get nodes
  bin/kubectl apply -f examples/hello.yaml
  bin/kubectl get deploy,rs,pods,svc -o wide
`);
}
