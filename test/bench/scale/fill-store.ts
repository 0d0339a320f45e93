/** Fills the store of a stopped server with many objects, each a variation of one that the server itself wrote, so that no hour goes by with creating them. */
import path from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/storage/index.ts";
import { inFlight } from "../api/load.ts";
import { namespaceOf, nodeName, podName } from "./objects.ts";

export interface FillOptions {
  /** The server's data directory. */
  readonly dataDir: string;
  readonly pods: number;
  readonly nodes: number;
}

/** Makes of node 0 and pod 0 all others, the pods in turn on the nodes. Returns the bytes of the pods' values. */
export async function fillStore({ dataDir, pods, nodes }: FillOptions): Promise<number> {
  await using store = await openStore({ backend: "lmdb", clock: systemClock(), logger: silentLog, directory: path.join(dataDir, "store") });
  let bytes = 0;
  const copy = async (from: string, to: string, changes: readonly (readonly [string, string])[]) => {
    const text = changes.reduce((result, [before, after]) => result.replaceAll(before, after), from);
    const value = Buffer.from(text);
    await store.commit({ kind: "put", key: to, value, expected: 0 });
    return value.length;
  };
  const nodeText = await text(nodeKey(0));
  const podText = await text(podKey(0));
  const uids = [nodeText, podText].map((value) => /"uid":"([-0-9a-f]{36})"/.exec(value)![1]!);
  await inFlight(500, nodes - 1, (index) =>
    copy(nodeText, nodeKey(index + 1), [
      [nodeName(0), nodeName(index + 1)],
      [uids[0]!, uidOf(uids[0]!, index + 1)],
    ]),
  );
  await inFlight(500, pods - 1, async (index) => {
    const pod = index + 1;
    const length = await copy(podText, podKey(pod), [
      [podName(0), podName(pod)],
      [`"namespace":"${namespaceOf(0)}"`, `"namespace":"${namespaceOf(pod)}"`],
      [`"nodeName":"${nodeName(0)}"`, `"nodeName":"${nodeName(pod % nodes)}"`],
      ['"app":"web-0"', `"app":"web-${pod % 50}"`],
      [uids[1]!, uidOf(uids[1]!, pod)],
    ]);
    bytes += length;
  });
  return bytes;

  async function text(key: string): Promise<string> {
    const stored = await store.get(key);
    if (stored === undefined) throw new Error(`${key} is not in the store`);
    return Buffer.from(stored.value).toString();
  }
}

function nodeKey(index: number): string {
  return `/registry/minions/${nodeName(index)}`;
}

function podKey(index: number): string {
  return `/registry/pods/${namespaceOf(index)}/${podName(index)}`;
}

function uidOf(uid: string, index: number): string {
  return uid.slice(0, -8) + index.toString(16).padStart(8, "0");
}
