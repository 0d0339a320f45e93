import { runOperator } from "coracle/operator";
import { websiteOperator } from "./operator.ts";

// `node main.ts manifests IMAGE | kubectl apply -f -` puts it into a cluster; `node main.ts` runs it here, against $KUBECONFIG.
if (process.argv[2] === "manifests") console.log(websiteOperator.yaml({ image: process.argv[3] ?? "website-operator:latest" }));
else await runOperator(websiteOperator);
