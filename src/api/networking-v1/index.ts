import type { KindStrategy } from "../strategy.ts";
import { ingresses } from "./ingress.ts";
import { ingressClasses } from "./ingressclass.ts";
import { ipAddresses } from "./ipaddress.ts";
import { networkPolicies } from "./networkpolicy.ts";
import { serviceCidrs } from "./servicecidr.ts";

export const networkingV1Strategies: readonly KindStrategy[] = [ingresses, ingressClasses, networkPolicies, ipAddresses, serviceCidrs];
