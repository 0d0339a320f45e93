import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";

/** Pods by the node they are on; those on none under `""`. */
export const onNode = { node: ({ spec }: DeepReadonly<Pod>) => [spec?.nodeName ?? ""] };
