import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isPortNumber } from "../../apimachinery/formats.ts";
import { isDns1035Label, isDns1123Subdomain, pathSegmentName } from "../../apimachinery/names.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { validateObjectMetaUpdate } from "../meta/object-meta.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import type { APIService, APIServiceSpec, ServiceReference } from "./types.ts";

const specPath = FieldPath.root("spec");

export const apiServices = defineKind<APIService>({
  gvk: { group: "apiregistration.k8s.io", version: "v1", kind: "APIService" },
  nameRule: pathSegmentName,
  requiresQualifiedFinalizers: false,
  generation: "none",
  defaults(apiService) {
    const { service } = specOf(apiService);
    if (service !== undefined) service.port ??= 443;
  },
  create: {
    prepare(apiService, { nowMs }) {
      apiService.status = {};
      // What this server serves itself is available from the start.
      if (specOf(apiService).service !== undefined) return;
      apiService.status.conditions = [
        { type: "Available", status: "True", lastTransitionTime: formatTime(nowMs), reason: "Local", message: "Local APIServices are always available" },
      ];
    },
    validate: validateApiService,
  },
  update: {
    prepare: (apiService, old) => restoreMembers(apiService, old, "status"),
    // (Faults of the metadata are told twice.)
    validate: (apiService, old) => [...validateObjectMetaUpdate(apiService.metadata, old.metadata), ...validateApiService(apiService)],
    resetFields: ["status"],
    allowsUnconditional: false,
  },
  status: {
    prepare: (apiService, old) => restoreMembers(apiService, old, "spec"),
    validate: validateStatus,
    resetFields: ["spec"],
  },
});

const maxGroupPriority = 20_000;
const maxVersionPriority = 1000;

function validateApiService(apiService: APIService): FieldError[] {
  const spec = specOf(apiService);
  const { group = "", version = "", groupPriorityMinimum = 0, versionPriority = 0 } = spec;
  const errors = validateName(apiService);
  if (group === "" && version !== "v1") errors.push(required(specPath.child("group"), "only v1 may have an empty group and it better be legacy kube"));
  if (group !== "") errors.push(...invalidEach(specPath.child("group"), group, isDns1123Subdomain(group)));
  errors.push(...invalidEach(specPath.child("version"), version, isDns1035Label(version)));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > maxGroupPriority) {
    errors.push(invalid(specPath.child("groupPriorityMinimum"), groupPriorityMinimum, `must be positive and less than ${maxGroupPriority}`));
  }
  if (versionPriority <= 0 || versionPriority > maxVersionPriority)
    errors.push(invalid(specPath.child("versionPriority"), versionPriority, `must be positive and less than ${maxVersionPriority}`));
  return [...errors, ...(spec.service === undefined ? validateLocal(spec) : validateRemote(spec, spec.service))];
}

function validateName({ metadata: { name = "" }, spec }: APIService): FieldError[] {
  const expected = `${spec?.version ?? ""}.${spec?.group ?? ""}`;
  if (name === "" || name === expected || pathSegmentName(name).length > 0) return [];
  return [invalid(FieldPath.root("metadata", "name"), name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`)];
}

function validateLocal({ caBundle = "", insecureSkipTLSVerify }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const bytes = Buffer.from(caBundle, "base64").length;
  if (bytes > 0) errors.push(invalid(specPath.child("caBundle"), `${bytes} bytes`, "local APIServices may not have a caBundle"));
  if (insecureSkipTLSVerify === true)
    errors.push(invalid(specPath.child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify"));
  return errors;
}

function validateRemote({ caBundle, insecureSkipTLSVerify }: APIServiceSpec, { namespace, name, port = 0 }: ServiceReference): FieldError[] {
  const path = specPath.child("service");
  const errors: FieldError[] = [];
  if (!namespace) errors.push(required(path.child("namespace")));
  if (!name) errors.push(required(path.child("name")));
  errors.push(...isPortNumber(port).map((fault) => invalid(path.child("port"), port, `port is not valid: ${fault}`)));
  if (insecureSkipTLSVerify === true && caBundle) errors.push(invalid(specPath.child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"));
  return errors;
}

const statuses = ["True", "False", "Unknown"];

function validateStatus({ status }: APIService): FieldError[] {
  const path = FieldPath.root("status", "conditions");
  return (status?.conditions ?? []).flatMap((condition, index) =>
    statuses.includes(condition.status) ? [] : [notSupported(path.index(index).child("status"), condition.status ?? "", statuses)],
  );
}

function specOf(apiService: APIService): APIServiceSpec {
  return (apiService.spec ??= {} as APIServiceSpec);
}
