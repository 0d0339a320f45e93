// Derives the message tables of CSI's node service and of plugin registration from their .proto files.
//
//   node tools/generate-csi.ts CSI.proto REGISTRATION.proto
//
// The files come with the Go modules github.com/container-storage-interface/spec (csi.proto) and k8s.io/kubelet
// (pkg/apis/pluginregistration/v1/api.proto). The compact form is documented in src/apimachinery/protobuf/messages.ts.
import { readFileSync, writeFileSync } from "node:fs";
import protobuf from "protobufjs";
import type { Enum, Field, MapField, ReflectionObject, Type } from "protobufjs";

const [csiPath, registrationPath] = process.argv.slice(2);
const csiRoots = [
  "NodeStageVolume",
  "NodeUnstageVolume",
  "NodePublishVolume",
  "NodeUnpublishVolume",
  "NodeGetVolumeStats",
  "NodeExpandVolume",
  "NodeGetCapabilities",
  "NodeGetInfo",
  "GetPluginInfo",
].flatMap((method) => [`${method}Request`, `${method}Response`]);
write("src/kubelet/volumes/csi/data/csi-v1.json", csiPath!, "csi.v1.", csiRoots);
write("src/kubelet/plugins/data/registration-v1.json", registrationPath!, "pluginregistration.", [
  "PluginInfo",
  "RegistrationStatus",
  "RegistrationStatusResponse",
  "InfoRequest",
]);

function write(target: string, source: string, prefix: string, roots: readonly string[]): void {
  const { root } = protobuf.parse(readFileSync(source, "utf8"), { keepCase: true });
  const messages = new Map<string, unknown>();
  const enums = new Map<string, unknown>();
  const nameOf = (object: ReflectionObject) => object.fullName.replace(/^\./, "").slice(prefix.length);
  const visit = (object: Type | Enum): void => {
    const name = nameOf(object);
    if (messages.has(name) || enums.has(name)) return;
    if (object instanceof protobuf.Enum) return void enums.set(name, object.values);
    const fields = object.fieldsArray.filter(({ type }) => !/^\.?google\./.test(type));
    messages.set(name, fields.map(row));
    for (const field of fields) {
      const inner = field.resolve().resolvedType;
      if (inner !== null) visit(inner);
    }
  };
  for (const name of roots) visit(root.lookupType(prefix + name));
  const lines = (entries: Map<string, unknown>) =>
    [...entries]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(",\n");
  writeFileSync(target, `{"enums":{\n${lines(enums)}\n},"messages":{\n${lines(messages)}\n}}\n`);
}

function row(field: Field): readonly unknown[] {
  const { name, id, type, repeated, partOf } = field;
  const whole = field instanceof protobuf.MapField ? `map<${(field as MapField).keyType},${type}>` : type;
  if (repeated) return [name, id, whole, "repeated"];
  return partOf === null ? [name, id, whole] : [name, id, whole, `oneof:${partOf.name}`];
}
