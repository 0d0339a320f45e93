/** Rows of endpoint slices. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, cutList, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { EndpointPort, EndpointSlice } from "./types.ts";

export const endpointSliceColumns: TablePrinter<EndpointSlice> = {
  cells(slice, context) {
    const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
    return [nameOf(slice), slice.addressType ?? "", orUnset((slice.ports ?? []).map(portText)), orUnset(addresses), age(slice, context)];
  },
};

function orUnset(texts: readonly string[]): string {
  return texts.length === 0 ? "<unset>" : cutList(texts, 3);
}

function portText({ port, name }: DeepReadonly<EndpointPort>): string {
  return port === undefined ? name || "*" : String(port);
}
