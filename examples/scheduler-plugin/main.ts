import { runScheduler } from "coracle/scheduler";
import { cheapNodes, config } from "./cheap-nodes.ts";

// `node main.ts` schedules pods with `schedulerName: cheap` in the cluster of $KUBECONFIG; the cluster's own scheduler does the others.
await runScheduler({ config: { profiles: config.profiles.slice(1) }, plugins: { CheapNodes: cheapNodes } });
