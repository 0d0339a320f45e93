/** resource.k8s.io/v1beta1 has the members of an exact request in the request itself, and those of a device in `basic`. */
import type { JsonObject } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { VersionConversion } from "../conversions.ts";

const oldVersion = "resource.k8s.io/v1beta1";
const storedVersion = "resource.k8s.io/v1";

interface Request extends JsonObject {
  name: string;
}

export const claimConversion: VersionConversion = {
  fromStored: (claim) => ({ ...claim, apiVersion: oldVersion, ...specWith(claim, requestToOld) }),
  toStored: (claim) => ({ ...claim, apiVersion: storedVersion, ...specWith(claim, requestFromOld) }),
};

export const claimTemplateConversion: VersionConversion = {
  fromStored: (template) => ({ ...template, apiVersion: oldVersion, ...templateWith(template, requestToOld) }),
  toStored: (template) => ({ ...template, apiVersion: storedVersion, ...templateWith(template, requestFromOld) }),
};

export const sliceConversion: VersionConversion = {
  fromStored: (slice) => ({ ...slice, apiVersion: oldVersion, ...devicesWith(slice, ({ name, ...basic }) => ({ name, basic })) }),
  toStored: (slice) => ({ ...slice, apiVersion: storedVersion, ...devicesWith(slice, ({ name, basic = {} }) => ({ ...(basic as JsonObject), name })) }),
};

type Change = (item: Request) => Request;
interface Holder extends JsonObject {
  devices?: { requests?: Request[] };
}

function specWith(claim: KubeObject, change: Change): { spec?: Holder } {
  const spec = claim["spec"] as Holder | undefined;
  return spec === undefined ? {} : { spec: withRequests(spec, change) };
}

function templateWith(template: KubeObject, change: Change) {
  const spec = template["spec"] as { spec?: Holder } | undefined;
  return spec?.spec === undefined ? {} : { spec: { ...spec, spec: withRequests(spec.spec, change) } };
}

function withRequests(spec: Holder, change: Change): Holder {
  const requests = spec.devices?.requests;
  return requests === undefined ? spec : { ...spec, devices: { ...spec.devices, requests: requests.map(change) } };
}

function devicesWith(slice: KubeObject, change: Change) {
  const spec = slice["spec"] as { devices?: Request[] } | undefined;
  return spec?.devices === undefined ? {} : { spec: { ...spec, devices: spec.devices.map(change) } };
}

function requestToOld({ exactly = {}, ...request }: Request): Request {
  return { ...request, ...(exactly as JsonObject) };
}

function requestFromOld({ name, firstAvailable, ...exactly }: Request): Request {
  const isOneOf = firstAvailable !== undefined && Object.keys(exactly).length === 0;
  return { name, ...(!isOneOf && { exactly }), ...(firstAvailable !== undefined && { firstAvailable }) };
}
