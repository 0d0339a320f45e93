/** The same operator, installed by npm, as a program against a running cluster. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { Instance, Session } from "./instance.ts";
import { userFolder } from "./packed-package.ts";

test("an operator outside its cluster: kubectl sees the columns, the webhook refuses over TLS, it stops in order", async () => {
  await using user = await userFolder("website-operator", "install");
  await using instance = await Instance.create();
  await instance.start({ args: ["--port", "16471", "--runtime", "simulated", "--store", "memory", "--kubelet.port=16472"] });
  const env = { ...process.env, KUBECONFIG: path.join(instance.dataDir, "kubeconfig") };
  const child = spawn(process.execPath, ["main.ts"], { cwd: user.folder, env });
  await using operator = new Session(child);
  await operator.saw(/Registered webhooks/);
  const site = (name: string, domain: string) => `{"apiVersion":"example.com/v1","kind":"Website","metadata":{"name":"${name}"},"spec":{"domain":"${domain}"}}`;
  const apply = async (text: string) => {
    await using kubectl = instance.startKubectl(["apply", "-f", "-"]);
    kubectl.write(text);
    kubectl.end();
    const code = await kubectl.ended();
    return `${code} ${kubectl.output}`;
  };
  assert.match(await apply(site("blog", "blog.example.com")), /^0 website\.example\.com\/blog created/);
  await instance.kubectl("wait", "--for=condition=Up", "website/blog", "--timeout=60s");
  await instance.kubectl("wait", "--for=jsonpath={.status.ready}=2", "website/blog", "--timeout=60s");
  assert.match(await instance.kubectl("get", "site"), /^NAME +DOMAIN +READY +UP +AGE\nblog +blog\.example\.com +2 +True +\d+s$/);
  assert.match(
    await apply(site("other", "example.org")),
    /admission webhook "validating\.websites\.example\.com\.website-operator\.operator" denied the request: spec\.domain: example\.org is not below example\.com/,
  );
  child.kill("SIGTERM");
  assert.equal(await operator.ended(), 0);
  assert.match(operator.output, /Stopped operator/);
});
