/** The calls of etcd's v3 API that the store makes, as typed requests and responses. Source: etcd's api/etcdserverpb/rpc.proto. */
import { decode, encode, type Message } from "./wire.ts";

/** A call: where it goes, and how its messages become bytes. */
export interface Method<Request, Response> {
  readonly path: string;
  /** Changes nothing, so that it can be made again when its answer is lost. */
  readonly isRead: boolean;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
}

export interface KeyValue {
  readonly key: Uint8Array;
  readonly create_revision: number;
  readonly mod_revision: number;
  readonly value: Uint8Array;
}
export interface Header {
  readonly revision: number;
}
export interface RangeRequest {
  readonly key: Uint8Array;
  readonly range_end?: Uint8Array;
  readonly limit?: number;
  readonly revision?: number;
}
export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}
/** Writes `success` when the key's modification revision is the expected one, else reads what is there. */
export interface TxnRequest {
  readonly compare: readonly { readonly target: typeof compareModRevision; readonly key: Uint8Array; readonly mod_revision: number }[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}
export interface RequestOp {
  readonly request_range?: RangeRequest;
  readonly request_put?: { readonly key: Uint8Array; readonly value: Uint8Array; readonly lease?: number };
  readonly request_delete_range?: { readonly key: Uint8Array };
}
export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeResponse }[];
}
export interface WatchRequest {
  readonly create_request?: { readonly key: Uint8Array; readonly range_end: Uint8Array; readonly start_revision: number; readonly prev_kv: boolean };
  readonly progress_request?: object;
}
export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: number;
  readonly cancel_reason: string;
  readonly events: readonly { readonly type: number; readonly kv: KeyValue; readonly prev_kv?: KeyValue }[];
}

/** `Compare.target`: the key's modification revision (its result, EQUAL, is 0). */
export const compareModRevision = 2;
/** `Event.type` of a deletion. */
export const deleteEvent = 1;

const header: Message = { revision: [3, "int"] };
const keyValue: Message = { key: [1, "bytes"], create_revision: [2, "int"], mod_revision: [3, "int"], value: [5, "bytes"] };
const rangeRequest: Message = { key: [1, "bytes"], range_end: [2, "bytes"], limit: [3, "int"], revision: [4, "int"] };
const rangeResponse: Message = { header: [1, header], kvs: [2, [keyValue]], more: [3, "bool"] };
const requestOp: Message = {
  request_range: [1, rangeRequest],
  request_put: [2, { key: [1, "bytes"], value: [2, "bytes"], lease: [3, "int"] }],
  request_delete_range: [3, { key: [1, "bytes"] }],
};
const txnRequest: Message = {
  compare: [1, [{ target: [2, "int"], key: [3, "bytes"], mod_revision: [6, "int"] }]],
  success: [2, [requestOp]],
  failure: [3, [requestOp]],
};
const txnResponse: Message = { header: [1, header], succeeded: [2, "bool"], responses: [3, [{ response_range: [1, rangeResponse] }]] };
const watchRequest: Message = {
  create_request: [1, { key: [1, "bytes"], range_end: [2, "bytes"], start_revision: [3, "int"], prev_kv: [6, "bool"] }],
  progress_request: [3, {}],
};
const watchResponse: Message = {
  header: [1, header],
  created: [3, "bool"],
  canceled: [4, "bool"],
  compact_revision: [5, "int"],
  cancel_reason: [6, "string"],
  events: [11, [{ type: [1, "int"], kv: [2, keyValue], prev_kv: [3, keyValue] }]],
};

function method<Request extends object, Response>(path: string, request: Message, response: Message): Method<Request, Response> {
  const isRead = path.endsWith("/Range") || path.endsWith("/Status");
  return { path, isRead, encode: (value) => encode(request, value), decode: (bytes) => decode(response, bytes) as Response };
}

export const range = method<RangeRequest, RangeResponse>("/etcdserverpb.KV/Range", rangeRequest, rangeResponse);
export const txn = method<TxnRequest, TxnResponse>("/etcdserverpb.KV/Txn", txnRequest, txnResponse);
export const compact = method<{ revision: number }, object>("/etcdserverpb.KV/Compact", { revision: [1, "int"] }, {});
export const leaseGrant = method<{ TTL: number; ID: number }, object>("/etcdserverpb.Lease/LeaseGrant", { TTL: [1, "int"], ID: [2, "int"] }, {});
export const status = method<object, { dbSize: number }>("/etcdserverpb.Maintenance/Status", {}, { dbSize: [3, "int"] });
export const watch = method<WatchRequest, WatchResponse>("/etcdserverpb.Watch/Watch", watchRequest, watchResponse);
