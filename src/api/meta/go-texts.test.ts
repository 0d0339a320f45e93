import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGoUrl } from "./go-url.ts";

test("URLs as Go takes them apart", () => {
  assert.deepEqual(parseGoUrl("HTTPS://u@h:80/p?q#f"), { url: { scheme: "https", user: "u", host: "h:80", query: "q", fragment: "f" } });
  assert.deepEqual(parseGoUrl("h/p"), { url: { scheme: "", user: undefined, host: "", query: "", fragment: "" } });
  assert.deepEqual(parseGoUrl("::bad"), { fault: 'parse "::bad": missing protocol scheme' });
  assert.deepEqual(parseGoUrl("https://h:x"), { fault: 'parse "https://h:x": invalid port ":x" after host' });
  assert.deepEqual(parseGoUrl("https://h/%zz"), { fault: 'parse "https://h/%zz": invalid URL escape "%zz"' });
});
