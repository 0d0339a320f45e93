import { test } from "node:test";
import { deepEqual, throws } from "node:assert/strict";
import { parseArguments } from "./arguments.ts";
import type { OptionTable, ParseOptions } from "./arguments.ts";

const options: OptionTable = { port: "value", v: "boolean", components: "value" };

function parse(line: string, how: ParseOptions = {}) {
  const {
    command,
    operands,
    options: found,
    flags,
  } = parseArguments(
    line.split(" ").filter((word) => word !== ""),
    options,
    how,
  );
  return [command, operands, Object.fromEntries(found), Object.fromEntries([...flags].map(([name, ofComponent]) => [name, Object.fromEntries(ofComponent)]))];
}

test("arguments: what a line says", () => {
  const table: [line: string, expected: unknown[]][] = [
    ["", ["", [], {}, {}]],
    ["up", ["up", [], {}, {}]],
    ["up --port 7 -v a", ["up", ["a"], { port: "7", v: "true" }, {}]],
    ["up --port=7 --port=8", ["up", [], { port: "8" }, {}]],
    ["up --port=a=b", ["up", [], { port: "a=b" }, {}]],
    ["up --port=", ["up", [], { port: "" }, {}]],
    ["up --v=false", ["up", [], { v: "false" }, {}]],
    ["up --port -1", ["up", [], { port: "-1" }, {}]],
    ["up - -- --port 7", ["up", ["-", "--port", "7"], {}, {}]],
    ["up --apiserver.x=1 --apiserver.x=2 --kubelet.y", ["up", [], {}, { apiserver: { x: ["1", "2"] }, kubelet: { y: ["true"] } }]],
  ];
  for (const [line, expected] of table) deepEqual(parse(line), expected, line);
  deepEqual(parse("scheduler --leader-elect=false --port=7", { component: "scheduler" }), [
    "scheduler",
    [],
    { port: "7" },
    { scheduler: { "leader-elect": ["false"] } },
  ]);
});

test("arguments: another program's command line is left as it is", () => {
  const table: [line: string, expected: unknown[]][] = [
    ["test --port 7 go test -v ./...", ["test", ["go", "test", "-v", "./..."], { port: "7" }, {}]],
    ["test -v -- -x --port=8 -- a", ["test", ["-x", "--port=8", "--", "a"], { v: "true" }, {}]],
    ["test a -- b", ["test", ["a", "--", "b"], {}, {}]],
  ];
  for (const [line, expected] of table) deepEqual(parse(line, { takesCommand: true }), expected, line);
});

test("arguments: what cannot be read", () => {
  const table: [line: string, message: RegExp][] = [
    ["up --nothing=1", /^unknown option --nothing: `coracle help up` lists them$/],
    ["up --constructor", /^unknown option --constructor/],
    ["up --toString=1", /^unknown option --toString/],
    ["up --port", /^option --port wants a value$/],
    ["up --port --v", /^option --port wants a value$/],
    ["up --other.x=1", /^unknown option --other\.x/],
  ];
  for (const [line, message] of table) throws(() => parse(line), { name: "UsageError", message }, line);
});
