import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { attachmentName, planAttachments } from "./plan.ts";
import type { Node, PersistentVolume, Pod } from "../../api/core-v1/types.ts";
import type { VolumeAttachment } from "../../api/storage-v1/types.ts";
import type { WantedVolume } from "./plan.ts";
import type { Action } from "../../operator/index.ts";

const node = (status: Node["status"] = {}): Node => ({ metadata: { name: "ad-attach" }, status });
const volume: PersistentVolume = { metadata: { name: "v" }, spec: { csi: { driver: "csi.ad-attach.example.com", volumeHandle: "h" } } };
const name = "csi-b3843a65f4f95f090be4116716f17ec3fa5d419ba28356f969d9adc284e8541c";
const attachment = (status: VolumeAttachment["status"] = { attached: false }): VolumeAttachment => ({
  metadata: { name },
  spec: { attacher: "csi.ad-attach.example.com", nodeName: "ad-attach", source: { persistentVolumeName: "v" } },
  status,
});
const pods: Pod[] = [{ metadata: { name: "p", namespace: "x" } }];
const wanted = [{ volume, pods }];
const attached = { volumesAttached: [{ name: "kubernetes.io/csi/csi.ad-attach.example.com^h", devicePath: "" }] };

test("an attachment is named after volume, driver and node", () => equal(attachmentName(volume, node()), name));

const cases: [title: string, node: Node, wanted: WantedVolume[], attachments: VolumeAttachment[], expect: string[]][] = [
  ["asked for", node(), wanted, [], ["create"]],
  ["waits for the driver", node(), wanted, [attachment()], []],
  ["attached", node(), wanted, [attachment({ attached: true })], ["update", "SuccessfulAttachVolume"]],
  ["known", node(attached), wanted, [attachment({ attached: true })], []],
  ["failed", node(), wanted, [attachment({ attached: false, attachError: { message: "no such disk" } })], ["FailedAttachVolume"]],
  ["not wanted any more", node(attached), [], [attachment({ attached: true })], ["update", "delete"]],
  ["still mounted", node({ ...attached, volumesInUse: ["kubernetes.io/csi/csi.ad-attach.example.com^h"] }), [], [attachment({ attached: true })], []],
];
for (const [title, given, wants, attachments, expect] of cases) {
  test(`attachments: ${title}`, () =>
    deepEqual(planAttachments({ node: given, wanted: wants, attachments, volumes: () => volume }).actions.map(summary), expect));
}

function summary(action: Action): string {
  return action.kind === "event" ? action.event.reason : action.kind;
}
