import type { KindStrategy } from "../strategy.ts";
import { storageVersions } from "./storageversion.ts";

export const apiserverinternalV1alpha1Strategies: readonly KindStrategy[] = [storageVersions];
