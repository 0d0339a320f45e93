import type { SeriesEventText } from "../../client/index.ts";
import type { PodInfo } from "../state/pod-info.ts";

/** Records an event about a pod, as the scheduler that looks after it. */
export type RecordEvent = (pod: PodInfo, text: SeriesEventText) => void;
