export type FunctionEstimate = unknown;
