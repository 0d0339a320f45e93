/** The operator as a program: `node main.ts`, against $KUBECONFIG. How instances are run is told by the environment. */
import { runOperator } from "coracle/operator";
import { httpAgents } from "./http-agents.ts";
import { databaseOperator } from "./operator.ts";

const { MYDB_IMAGE = "coracle.local/mydb", MYDB_COMMAND, MYDB_BACKUPS, MYDB_PROGRAMS } = process.env;
const operator = databaseOperator(httpAgents, {
  image: (version) => `${MYDB_IMAGE}:${version}`,
  // Without containers (`coracle up --runtime process`) the agent is a program of this machine.
  ...(MYDB_COMMAND !== undefined && { command: MYDB_COMMAND.split(" ") }),
  env: { ...(MYDB_BACKUPS !== undefined && { BACKUPS: MYDB_BACKUPS }), ...(MYDB_PROGRAMS !== undefined && { PG_PROGRAMS: MYDB_PROGRAMS }) },
});
if (process.argv[2] === "manifests") console.log(operator.yaml({ image: process.argv[3] ?? "my-database:latest" }));
else await runOperator(operator);
