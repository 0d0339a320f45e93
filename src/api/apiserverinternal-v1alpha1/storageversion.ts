/** StorageVersion: which version of a resource each API server stores (KEP-2339). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { NameRule } from "../../apimachinery/names.ts";
import { isDns1035Label, isDns1123Subdomain } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers, restoreMetadata } from "../update-rules.ts";
import type { ServerStorageVersion, StorageVersion } from "./types.ts";

/** `GROUP.RESOURCE`. */
const storageVersionName: NameRule = (name) => {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return ["name must be in the form of <group>.<resource>"];
  const group = name.slice(0, dot);
  return [...(group === "core" ? [] : isDns1123Subdomain(group)), ...isDns1035Label(name.slice(dot + 1))];
};

export const storageVersions = defineKind<StorageVersion>({
  gvk: { group: "internal.apiserver.k8s.io", version: "v1alpha1", kind: "StorageVersion" },
  nameRule: storageVersionName,
  generation: "none",
  create: {
    prepare(version) {
      version.status = {};
    },
  },
  update: { prepare: (version, old) => restoreMembers(version, old, "status"), allowsUnconditional: false, resetFields: ["status"] },
  status: {
    prepare(version, old) {
      restoreMembers(version, old, "spec");
      restoreMetadata(version, old);
    },
    validate: validateStatus,
    resetFields: ["metadata", "spec"],
  },
});

function validateStatus({ status }: StorageVersion): FieldError[] {
  const path = FieldPath.root("status");
  const servers = status?.storageVersions ?? [];
  const errors = servers.flatMap((server, index) => validateServer(server, path.child("storageVersions").index(index)));
  const common = status?.commonEncodingVersion;
  const encodings = new Set(servers.map(({ encodingVersion }) => encodingVersion));
  const [agreed] = encodings;
  if (encodings.size === 1 && common !== agreed)
    errors.push(invalid(path.child("commonEncodingVersion"), common ?? null, `the actual common encoding version is ${agreed}`));
  if (encodings.size !== 1 && common !== undefined)
    errors.push(
      invalid(
        path.child("commonEncodingVersion"),
        common,
        "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet",
      ),
    );
  return errors;
}

function validateServer(
  { apiServerID = "", encodingVersion = "", decodableVersions = [], servedVersions = [] }: ServerStorageVersion,
  path: FieldPath,
): FieldError[] {
  return [
    ...(apiServerID === "" ? [required(path.child("apiServerID"))] : []),
    ...(decodableVersions.includes(encodingVersion)
      ? []
      : [invalid(path, decodableVersions, `decodableVersions must include encodingVersion ${encodingVersion}`)]),
    ...servedVersions
      .filter((version) => !decodableVersions.includes(version))
      .map((version) =>
        invalid(
          path.child("servedVersions"),
          servedVersions,
          `individual served version : ${version} must be included in decodableVersions : [${decodableVersions.join(" ")}]`,
        ),
      ),
  ];
}
