/** Making certificates: a big module, loaded only where webhooks are served over TLS. It leans on the first import. */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

export { x509 };
