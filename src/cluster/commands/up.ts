/** `coracle up`: every component in one process, in the foreground, until a signal. */
import { keepAdminKubeconfig } from "../files/admin-kubeconfig.ts";
import { loopbackConnection } from "../connections/api-connection.ts";
import { Certificates } from "../certificates/certificates.ts";
import { keyDirectory } from "../certificates/key-store.ts";
import { startApiServer } from "../components/apiserver/apiserver.ts";
import { startComponents } from "../components/start-components.ts";
import { openDataDirectory, removeEmptyDirectory } from "../files/data-directory.ts";
import { realEnvironment } from "../environment.ts";
import type { Environment } from "../environment.ts";
import { lockDataDirectory, removeProcessId, writeProcessId } from "../process-id.ts";
import { waitForSignal } from "../signals.ts";
import { resetInstance } from "./stop-pods.ts";
import type { UpOptions } from "./up-options.ts";

/** Runs until SIGTERM or SIGINT, then stops in order; a second signal ends the process at once. A first start that fails leaves nothing. */
export async function runUp(options: UpOptions): Promise<void> {
  const environment = realEnvironment(options.isVerbose);
  const { isNew } = await openDataDirectory(options.dataDir);
  await using _lock = await lockDataDirectory(options.dataDir).catch(async (error: unknown) => {
    if (isNew) await removeEmptyDirectory(options.dataDir);
    throw error;
  });
  try {
    await runOn(options, environment);
    // Last of all: `coracle down` waits for it.
    await removeProcessId(options.dataDir);
  } catch (error) {
    if (isNew) await resetInstance(environment, options.dataDir);
    throw error;
  }
}

async function runOn(options: UpOptions, environment: Environment): Promise<void> {
  const certificates = new Certificates(keyDirectory(options.dataDir), environment.clock);
  const signal = waitForSignal();
  await using apiServer = await startApiServer(environment, options, certificates);
  await using kubeconfig = await keepAdminKubeconfig(environment, {
    dataDir: options.dataDir,
    server: apiServer.url,
    authority: apiServer.authority,
    certificates,
  });
  await using api = loopbackConnection(apiServer.url, apiServer.server.handle);
  await using _components = await startComponents({ environment, options, certificates, api });
  await writeProcessId(options.dataDir);
  announce(kubeconfig.path);
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
