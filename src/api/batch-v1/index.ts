import type { KindStrategy } from "../strategy.ts";
import { cronJobs } from "./cronjob.ts";
import { jobs } from "./job.ts";

export const batchV1Strategies: readonly KindStrategy[] = [cronJobs, jobs];
