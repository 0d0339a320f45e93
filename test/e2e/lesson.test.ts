/** A manifest as every lesson has it, word for word; the image of that name is made here, of Debian's nginx. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { Instance, whyNoContainers } from "./instance.ts";

const execute = promisify(execFile);
const reason = (await whyNoContainers()) ?? (await whyNoNginx());

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: hello
spec:
  replicas: 3
  selector:
    matchLabels:
      app: hello
  template:
    metadata:
      labels:
        app: hello
    spec:
      containers:
      - name: web
        image: nginx:1.29
        resources:
          limits:
            memory: 128Mi
`;

describe("the lesson's manifest", { skip: reason ?? false }, () => {
  let instance: Instance;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "coracle-lesson-"));
    instance = await Instance.create();
    await instance.start({
      args: ["--runtime", "containerd", "--port", "16460", "--pod-cidr", "10.219.0.0/16", "--service-cidr", "10.220.0.0/16", "--kubelet.port=16268"],
    });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test("three nginx run under their limit, come back, and answer", async () => {
    const archive = await buildNginxArchive(folder);
    await instance.coracle("image", "load", archive);
    assert.match(await instance.coracle("image", "ls"), /^docker\.io\/library\/nginx:1\.29$/m);
    const file = path.join(folder, "hello.yaml");
    await writeFile(file, manifest);
    await instance.kubectl("apply", "-f", file);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    const pods = (
      await instance.kubectl(
        "get",
        "pods",
        "-l",
        "app=hello",
        "-o",
        "jsonpath={range .items[*]}{.metadata.name} {.status.podIP} {.spec.containers[0].resources.limits.memory}{'\\n'}{end}",
      )
    )
      .split("\n")
      .map((line) => line.split(" "));
    assert.equal(pods.length, 3);
    for (const [, address, limit] of pods) {
      assert.equal(limit, "128Mi");
      assert.match(await instance.fetch(`http://${address}/`), /nginx answers/);
    }
    await instance.kubectl("delete", "pod", pods[0]![0]!);
    await instance.kubectl("wait", "--for=jsonpath={.status.availableReplicas}=3", "deployment/hello", "--timeout=60s");
    await instance.kubectl("expose", "deployment", "hello", "--port=80");
    assert.match(await instance.fetch(`http://${await instance.kubectl("get", "service", "hello", "-o", "jsonpath={.spec.clusterIP}")}/`), /nginx answers/);
  });
});

/** A Docker archive (one layer) that holds nginx and the libraries of this machine it needs. */
async function buildNginxArchive(folder: string): Promise<string> {
  const rootfs = path.join(folder, "rootfs");
  await execute("apt-get", ["download", "nginx"], { cwd: folder });
  const [packageFile] = (await readdir(folder)).filter((name) => name.endsWith(".deb"));
  await execute("dpkg", ["-x", path.join(folder, packageFile!), rootfs]);
  const { stdout: libraries } = await execute("ldd", [path.join(rootfs, "usr/sbin/nginx")]);
  for (const [, library] of libraries.matchAll(/(\/\S+) \(0x/g)) {
    await mkdir(path.join(rootfs, path.dirname(library!)), { recursive: true });
    await execute("cp", ["--dereference", library!, path.join(rootfs, library!)]);
  }
  for (const directory of ["etc/nginx", "var/log/nginx", "var/lib/nginx", "run", "srv"]) await mkdir(path.join(rootfs, directory), { recursive: true });
  await writeFile(path.join(rootfs, "etc/passwd"), "root:x:0:0:root:/:/bin/false\n");
  await writeFile(path.join(rootfs, "etc/group"), "root:x:0:\n");
  await writeFile(path.join(rootfs, "srv/index.html"), "nginx answers\n");
  await writeFile(
    path.join(rootfs, "etc/nginx/nginx.conf"),
    "user root root; worker_processes 1; error_log stderr; events {} http { access_log off; server { listen 80; root /srv; } }\n",
  );
  const image = path.join(folder, "image");
  await mkdir(image);
  await execute("tar", ["-C", rootfs, "-cf", path.join(image, "layer.tar"), "."]);
  const { stdout: sum } = await execute("sha256sum", [path.join(image, "layer.tar")]);
  const config = {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Cmd: ["/usr/sbin/nginx", "-g", "daemon off;"] },
    rootfs: { type: "layers", diff_ids: [`sha256:${sum.split(" ")[0]}`] },
  };
  await writeFile(path.join(image, "config.json"), JSON.stringify(config));
  await writeFile(path.join(image, "manifest.json"), JSON.stringify([{ Config: "config.json", RepoTags: ["nginx:1.29"], Layers: ["layer.tar"] }]));
  const archive = path.join(folder, "nginx.tar");
  await execute("tar", ["-C", image, "-cf", archive, "manifest.json", "config.json", "layer.tar"]);
  return archive;
}

/** Why Debian's nginx cannot be had here, or undefined. */
async function whyNoNginx(): Promise<string | undefined> {
  const { stdout } = await execute("apt-get", ["download", "--print-uris", "nginx"]).catch(() => ({ stdout: "" }));
  return stdout.includes(".deb") ? undefined : "needs Debian's package nginx in reach of apt-get";
}
