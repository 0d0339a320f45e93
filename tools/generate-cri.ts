// Derives src/kubelet/runtime/data/cri-v1.json from the facts beside the repository.
//
//   node tools/generate-cri.ts ../shared/facts/cri-v1.json
//
// The compact form is documented in src/apimachinery/protobuf/messages.ts. Messages of Windows and checkpoints are left out.
import { readFileSync, writeFileSync } from "node:fs";

type Row = [name: string, number: number, type: string, label?: string];
const facts = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as { enums: Record<string, Record<string, number>>; messages: Record<string, Row[]> };

const isUnused = (name: string) => /Windows|CheckpointPod|RestorePod/.test(name);
/** Fields name their types without package and enclosing message. */
const shortName = (name: string) => name.split(".").at(-1)!;
const line = ([name, value]: [string, unknown]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`;

const enums = Object.entries(facts.enums).map(([name, values]): [string, unknown] => [
  shortName(name),
  Object.fromEntries(Object.entries(values).sort(([, a], [, b]) => a - b)),
]);
const messages = Object.entries(facts.messages)
  .filter(([name]) => !isUnused(name))
  .map(([name, rows]): [string, unknown] => [
    shortName(name),
    rows.filter(([, , type]) => !isUnused(type)).map(([field, number, type, ...label]) => [field, number, type.replace("runtime.v1.", ""), ...label]),
  ]);

writeFileSync("src/kubelet/runtime/data/cri-v1.json", `{"enums":{\n${enums.map(line).join(",\n")}\n},"messages":{\n${messages.map(line).join(",\n")}\n}}\n`);
