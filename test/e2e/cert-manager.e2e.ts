/** cert-manager, unmodified: controller, webhook and CA injector issue certificates against `coracle up`. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { cpSync, globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "./instance.ts";
import { OperatorHost, whyNoOperators } from "./operator-host.ts";

/** The last release whose programs are part of a module that Go's proxy has. */
const release = "github.com/cert-manager/cert-manager@v1.11.5";
const namespace = "cert-manager";
const webhookPort = 16562;

const object = (kind: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: "cert-manager.io/v1",
  kind,
  metadata: { name, ...metadata },
  spec,
});

describe("cert-manager", { skip: (await whyNoOperators()) ?? false, timeout: 1_800_000 }, () => {
  let host: OperatorHost;

  before(async () => {
    host = await OperatorHost.create({ port: 16561, kubeletPort: 16361, namespace });
    const sources = await host.goInstall(release, "./cmd/controller", "./cmd/webhook", "./cmd/cainjector");
    const noPods = ["replicaCount", "webhook.replicaCount", "cainjector.replicaCount"].map((name) => `${name}=0`);
    await host.helmInstall("cert-manager", chartOf(sources), [...noPods, "startupapicheck.enabled=false", `global.leaderElection.namespace=${namespace}`]);
    const leaderElection = `--leader-election-namespace=${namespace}`;
    await host.run("webhook", "cert-manager-webhook", [
      `--secure-port=${webhookPort}`,
      "--healthz-port=16566",
      `--dynamic-serving-ca-secret-namespace=${namespace}`,
      "--dynamic-serving-ca-secret-name=cert-manager-webhook-ca",
      `--dynamic-serving-dns-names=cert-manager-webhook.${namespace}.svc`,
    ]);
    await host.run("cainjector", "cert-manager-cainjector", [leaderElection]);
    await host.run("controller", "cert-manager", [leaderElection, `--cluster-resource-namespace=${namespace}`, "--metrics-listen-address=127.0.0.1:16564"]);
    await host.publish("cert-manager-webhook", "https", webhookPort);
    // Until the injector has given the webhook's authority to its configuration, and the webhook has its certificate.
    const issuer = object("Issuer", "self-signed", { selfSigned: {} });
    await until(
      () =>
        host.instance.apply(issuer).then(
          () => true,
          () => undefined,
        ),
      () => `an issuer; the programs said:\n${host.logs}`,
      60_000,
    );
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
  });

  /** Waits until a certificate is ready, and reads it from its Secret. */
  async function issued(name: string, secret: string): Promise<X509Certificate> {
    try {
      await host.instance.kubectl("wait", "--for=condition=Ready", `certificate/${name}`, "--timeout=60s");
    } catch (error) {
      throw new Error(host.logs, { cause: error });
    }
    return new X509Certificate(Buffer.from(await host.instance.kubectl("get", "secret", secret, "-o", "jsonpath={.data.tls\\.crt}"), "base64"));
  }

  test("an issuer that signs itself makes a CA, whose issuer signs a certificate", async () => {
    await host.instance.apply(
      object("Certificate", "ca", {
        isCA: true,
        commonName: "ca",
        secretName: "ca-tls",
        privateKey: { algorithm: "ECDSA", size: 256 },
        issuerRef: { name: "self-signed" },
      }),
    );
    const authority = await issued("ca", "ca-tls");
    assert.ok(authority.ca && authority.verify(authority.publicKey));
    await host.instance.apply(object("Issuer", "ca", { ca: { secretName: "ca-tls" } }));
    await host.instance.apply(object("Certificate", "web", { secretName: "web-tls", dnsNames: ["example.com", "www.example.com"], issuerRef: { name: "ca" } }));
    const certificate = await issued("web", "web-tls");
    assert.ok(certificate.verify(authority.publicKey));
    assert.equal(certificate.subjectAltName, "DNS:example.com, DNS:www.example.com");
    // Its webhook has added who asked.
    assert.match(
      await host.instance.kubectl("get", "certificaterequests", "-o", "wide", "--no-headers"),
      /^web-\S+ +True +True +ca +system:serviceaccount:cert-manager:cert-manager +Certificate fetched from issuer successfully/m,
    );
    assert.match(await host.instance.kubectl("describe", "certificate", "web"), /Normal +Issuing .* The certificate has been successfully issued/);
  });

  test("a Secret that is gone is issued anew", async () => {
    const { serialNumber } = await issued("web", "web-tls");
    await host.instance.kubectl("delete", "secret", "web-tls");
    await host.instance.kubectl("wait", "--for=create", "secret/web-tls", "--timeout=60s");
    assert.notEqual((await issued("web", "web-tls")).serialNumber, serialNumber);
  });

  test("an Ingress that asks for a certificate gets one, which goes with it", async () => {
    await host.instance.apply({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "site", annotations: { "cert-manager.io/issuer": "ca" } },
      spec: {
        tls: [{ hosts: ["site.example.com"], secretName: "site-tls" }],
        defaultBackend: { service: { name: "site", port: { number: 80 } } },
      },
    });
    await host.instance.kubectl("wait", "--for=create", "certificate/site-tls", "--timeout=60s");
    assert.equal((await issued("site-tls", "site-tls")).subjectAltName, "DNS:site.example.com");
    await host.instance.kubectl("delete", "ingress", "site");
    await host.instance.kubectl("wait", "--for=delete", "certificate/site-tls", "--timeout=60s");
  });

  test("its webhook refuses what it cannot issue, and changes of a request", async () => {
    await assert.rejects(
      host.instance.apply(object("Certificate", "nameless", { secretName: "nameless", issuerRef: { name: "ca" } })),
      /admission webhook "webhook.cert-manager.io" denied the request: spec: Invalid value: "": at least one of .* must be set/,
    );
    const [request] = (await host.instance.kubectl("get", "certificaterequests", "-o", "name")).split("\n");
    await assert.rejects(
      host.instance.kubectl("patch", request!, "--type=merge", "-p", '{"spec":{"issuerRef":{"name":"other"}}}'),
      /admission webhook "webhook.cert-manager.io" denied the request: spec: Forbidden: cannot change spec after creation/,
    );
  });

  /** Its chart as releases have it: named, and with the definitions among the templates. */
  function chartOf(sources: string): string {
    const chart = host.copy(path.join(sources, "deploy", "charts", "cert-manager"));
    const [from, to] = ["Chart.template.yaml", "Chart.yaml"].map((name) => path.join(chart, name)) as [string, string];
    renameSync(from, to);
    writeFileSync(to, readFileSync(to, "utf8").replace("{{IS_PRERELEASE}}", "false"));
    const crds = path.join(sources, "deploy", "crds");
    for (const file of globSync("*.yaml", { cwd: crds })) cpSync(path.join(crds, file), path.join(chart, "templates", file));
    return chart;
  }
});
