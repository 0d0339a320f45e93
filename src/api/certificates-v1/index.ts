import type { KindStrategy } from "../strategy.ts";
import { certificateSigningRequests } from "./certificatesigningrequest.ts";
import { clusterTrustBundles } from "./clustertrustbundle.ts";
import { podCertificateRequests } from "./podcertificaterequest.ts";

export const certificatesV1Strategies: readonly KindStrategy[] = [certificateSigningRequests, clusterTrustBundles, podCertificateRequests];
