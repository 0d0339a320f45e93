import assert from "node:assert/strict";
import { test } from "node:test";
import { commandQuery, logQuery, portForwardQuery } from "./pod-connect-query.ts";

const commands: [raw: string, query: string][] = [
  ["command=echo&command=&command=x&stdout=true&stderr=1", "output=1&error=1&command=echo&command=&command=x"],
  ["stdout=yes&stderr=False&stdin=&tty", "input=1&output=1&tty=1"],
  ["stdout=false&stdout=true&stderr=0", ""],
  ["output=1&foo=bar&container=c", ""],
  ["command=echo&command=a;b&stdout=true", "output=1&command=echo"],
];
for (const [raw, query] of commands) test(`exec ?${raw}`, () => assert.equal(commandQuery(raw), query));

const ports: [query: string, result: string][] = [
  ["ports=80&ports=81", "port=80&port=81"],
  ["ports=80,81", "port=80&port=81"],
  ["", ""],
  ["ports=0", "port=0"],
  ["ports=65536", 'cannot convert to []int32: strconv.ParseUint: parsing "65536": value out of range'],
  ["ports=", 'cannot convert to []int32: strconv.ParseUint: parsing "": invalid syntax'],
];
for (const [query, expected] of ports) {
  test(`port-forward ?${query}`, () => {
    let result: string;
    try {
      result = portForwardQuery(new URLSearchParams(query));
    } catch (error) {
      result = (error as Error).message;
    }
    assert.equal(result, expected);
  });
}

test("log", () => assert.equal(logQuery(new URLSearchParams("container=c&tailLines=2&follow=true")), "tailLines=2&follow=true"));
