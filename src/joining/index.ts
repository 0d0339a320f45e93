/** How nodes of other machines join: trust by a token, certificates by requests, and who approves them. */
export { approverRules, proxyUser, runApprover } from "./approver.ts";
export { authorityHash, fetchClusterInfo, JoinError, parseToken, trustedAuthority } from "./cluster-info.ts";
export type { BootstrapTokenText } from "./cluster-info.ts";
export { requestCertificate } from "./request-certificate.ts";
export type { CertificateWish } from "./request-certificate.ts";
