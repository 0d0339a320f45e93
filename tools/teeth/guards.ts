/** The guards of docs/security.md: where each stands, what the code is without it, and the test that must then fail. */
export interface Guard {
  readonly about: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly guard: string;
  readonly without: string;
  readonly test: string;
  readonly name: string;
}

const requests = "test/security/requests.test.ts";
const connections = "test/security/connections.test.ts";
const nodes = "test/security/nodes.test.ts";

export const guards: readonly Guard[] = [
  { about: "upgrade that fails", file: "src/cluster/node-dialer.ts", guard: `resolve(plainAnswer(response));`, without: `resolve({ status: 101, headers: {}, body: { kind: "upgrade", accept: async () => {} } });`, test: connections, name: "security: an upgrade that the other side refuses" },
  { about: "redirects of a kubelet", file: "src/cluster/node-dialer.ts", guard: `resolve(plainAnswer(response));`, without: `if (response.statusCode === 302) return void this.#request(target, { ...request, path: response.headers.location! }).then(resolve, reject);\n        resolve(plainAnswer(response));`, test: connections, name: "security: a redirect of a kubelet" },
  { about: "certificate of a kubelet", file: "src/cluster/node-dialer.ts", guard: `ca: authority, checkServerIdentity`, without: `rejectUnauthorized: false, checkServerIdentity`, test: connections, name: "security: a redirect of a kubelet" },
  { about: "server-side requests to the own machine", file: "src/apiserver/handlers/proxy.ts", guard: `if (!isAllowedAddress(target.address)) throw badRequestError("address not allowed");`, without: ``, test: requests, name: "security: a proxy reaches neither" },
  { about: "bombs: aliases", file: "src/apimachinery/yaml.ts", guard: `if (isExcessive) throw`, without: `if (false) throw`, test: requests, name: "security: bombs" },
  { about: "bombs: size", file: "src/apiserver/handlers/decode-body.ts", guard: `if (context.request.body.length > limit) {`, without: `if (limit < 0) {`, test: requests, name: "security: bombs" },
  { about: "bombs: patches", file: "src/apimachinery/patch/json-patch.ts", guard: `const maxOperations = 10_000;`, without: `const maxOperations = 10_000_000;`, test: requests, name: "security: bombs" },
  { about: "labels of metrics: resources", file: "src/apiserver/metrics/request-metrics.ts", guard: `return { ...info, ...nothingKnown, verb };`, without: `return info;`, test: requests, name: "security: what a client makes up" },
  { about: "labels of metrics: verbs", file: "src/apiserver/metrics/request-metrics.ts", guard: `knownVerbs.has(info.verb) ? info.verb : "other"`, without: `info.verb`, test: requests, name: "security: what a client makes up" },
  { about: "labels of metrics: options", file: "src/apiserver/metrics/request-metrics.ts", guard: `asked === "All" ? "All" : "invalid"`, without: `asked`, test: requests, name: "security: what a client makes up" },
  { about: "rapid resets", file: "src/apimachinery/listener/tls-listener.ts", guard: `streamResetBurst: context.resetBurst,`, without: `streamResetBurst: 100_000_000,`, test: connections, name: "security: a client that opens and resets" },
  { about: "slow requests: HTTP/1.1", file: "src/apimachinery/listener/tls-listener.ts", guard: `http1.emit("listening");`, without: ``, test: connections, name: "security: a client that does not finish" },
  { about: "slow requests: HTTP/2", file: "src/apimachinery/listener/http2.ts", guard: `stream.setTimeout(requestLimitMs, () => stream.close(http2.constants.NGHTTP2_CANCEL));`, without: ``, test: connections, name: "security: a client that does not finish" },
  { about: "half a body", file: "src/apimachinery/listener/http2.ts", guard: `if (stream.aborted || stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) throw clientLeft;`, without: ``, test: connections, name: "security: a client that does not finish" },
  { about: "endpoints to the node itself", file: "src/apimachinery/net.ts", guard: `if (isIn("127.0.0.0/8", "::1/128")) errors.push(`, without: `if (false) errors.push(`, test: requests, name: "security: endpoints lead" },
  { about: "unbounded files: messages", file: "src/kubelet/pod-sync/last-words.ts", guard: `const maxFileBytes = 4096;`, without: `const maxFileBytes = 4096 * 4096;`, test: nodes, name: "security: a message left by a container" },
  { about: "names that lead elsewhere", file: "src/apimachinery/names.ts", guard: `if (!isPrefix && (name === "." || name === "..")) return`, without: `if (false) return`, test: requests, name: "security: names and namespaces" },
  { about: "cluster-scoped objects by namespaced paths", file: "src/apiserver/handlers/dispatch.ts", guard: `if (isInNamespace && !definition.isNamespaced && !isNamespaceItself) return false;`, without: ``, test: requests, name: "security: an object of the cluster" },
  { about: "old object in admission", file: "src/apiserver/admission/webhooks/review.ts", guard: `oldObject: view.oldObject`, without: `oldObject: null`, test: requests, name: "security: admission sees the object" },
  { about: "forgotten containers: init", file: "src/apiserver/admission/pods/containers.ts", guard: `spec.initContainers?.forEach((container, index) => visit(container, "init container", index));`, without: ``, test: requests, name: "security: no container is forgotten" },
  { about: "forgotten containers: ephemeral", file: "src/apiserver/admission/pods/containers.ts", guard: `spec.ephemeralContainers?.forEach((container, index) => visit(container, "ephemeral container", index));`, without: ``, test: requests, name: "security: no container is forgotten" },
  { about: "nodes: labels that isolate", file: "src/apiserver/admission/nodes/node-objects.ts", guard: `if (isIn("node-restriction.kubernetes.io")) return true;`, without: `if (isIn("node-restriction.kubernetes.io")) return false;`, test: requests, name: "security: a node changes only" },
  { about: "nodes: owners", file: "src/apiserver/admission/nodes/node-objects.ts", guard: `if (!deepEqual(node!.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? [])) throw`, without: `if (false) throw`, test: requests, name: "security: a node changes only" },
  { about: "nodes: owners of mirror pods", file: "src/apiserver/admission/nodes/node-pods.ts", guard: `if (owners.length > 1) throw`, without: `if (false) throw`, test: requests, name: "security: a node changes only" },
  { about: "seccomp profile without a name", file: "src/kubelet/resources/security-context.ts", guard: `if (type === "Localhost" && (localhostProfile ?? "") === "") throw`, without: `if (false) throw`, test: nodes, name: "security: a seccomp profile of the node" },
  { about: "debug endpoints", file: "src/apiserver/stages/authorization.ts", guard: `if (!info.isResourceRequest) return { kind: "path", user, verb: info.verb, path: info.path };`, without: `if (!info.isResourceRequest) return { kind: "path", user: { username: "x", groups: ["system:masters"] }, verb: info.verb, path: info.path };`, test: requests, name: "security: debug paths" },
  { about: "node ports of loopback", file: "src/proxy/nft/table-skeleton.ts", guard: `fib daddr type local ${"$"}{ip} daddr != ${"$"}{family === "IPv4" ? "127.0.0.0/8" : "::1"} `, without: `fib daddr type local `, test: nodes, name: "security: route_localnet is set by nobody" },
  { about: "sysctls that open loopback", file: "src/kubelet/node/admission.ts", guard: `if (!safeSysctls.has(dotted)) return`, without: `if (false) return`, test: nodes, name: "security: route_localnet is set by nobody" },
  { about: "volumes that run programs", file: "src/kubelet/volumes/disk-storage.ts", guard: `if (plugin === undefined) throw new VolumeError("no volume plugin matched", { operation: "MountVolume.FindPluginBySpec" });\n    return plugin;`, without: `return plugin ?? this.#plugins.get("emptyDir")!;`, test: nodes, name: "security: a volume that would run a program" },
  { about: "lines of resolv.conf", file: "src/kubelet/network/dns-config.ts", guard: `if (/^[\\x21-\\x7e]+$/.test(option)) options`, without: `options`, test: nodes, name: "security: an option of resolv.conf" },
  { about: "redirects of a webhook", file: "src/cluster/webhook-connections.ts", guard: `readAll(stream).then((bytes) => resolve({`, without: `if (headers.location !== undefined) return void postOverHttp2(session, new URL(headers.location, url), { body, signal, authority }).then(resolve, reject);\n      readAll(stream).then((bytes) => resolve({`, test: connections, name: "security: a redirect of a webhook" },
  { about: "lines of hosts files", file: "src/api/core-v1/pod/name-resolution.ts", guard: `...hostnames.flatMap((name, host) => invalidEach(at.child("hostnames").index(host), name, isDns1123Subdomain(name))),`, without: ``, test: requests, name: "security: nothing that a pod says" },
  { about: "keys of prototypes", file: "src/apimachinery/json.ts", guard: `if (key === "__proto__") Object.defineProperty(`, without: `if (key === "none") Object.defineProperty(`, test: requests, name: "security: keys with a meaning" },
  { about: "keys of prototypes: selectors", file: "src/apimachinery/selectors/label-selector.ts", guard: `labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined`, without: `labels?.[key]`, test: requests, name: "security: keys with a meaning" },
  { about: "expressions that take for ever", file: "src/apimachinery/go-regexp.ts", guard: `return this.#compiled.test(value);`, without: `return new RegExp(this.text).test(value);`, test: requests, name: "security: no expression" },
  { about: "links exchanged under a sub path", file: "src/kubelet/volumes/safe-files.ts", guard: `openAsPath | constants.O_NOFOLLOW`, without: `openAsPath`, test: "src/kubelet/volumes/disk-storage-root.test.ts", name: "a process that exchanges a directory for a link" },
  { about: "run as non-root", file: "src/kubelet/resources/security-context.ts", guard: `if (imageUser.uid === 0 || (imageUser.uid === undefined && imageUser.username === "")) return`, without: `if (imageUser.uid === -1) return`, test: nodes, name: "security: who must not be root" },
  { about: "identity headers", file: "src/apiserver/handlers/proxy.ts", guard: ` && !name.startsWith("x-remote-")`, without: ``, test: requests, name: "security: credentials and identity headers" },
  { about: "credentials passed on", file: "src/apiserver/handlers/proxy.ts", guard: `["authorization", "cookie", `, without: `[`, test: requests, name: "security: credentials and identity headers" },
  { about: "commands by reading: pods", file: "src/apiserver/handlers/pod-connect.ts", guard: `context.server.isEnabled("AuthorizePodWebsocketUpgradeCreatePermission")) await requireCreate(context);`, without: `false) await requireCreate(context);`, test: requests, name: "security: who may only read" },
  { about: "commands by reading: nodes", file: "src/apiserver/handlers/proxy.ts", guard: `if (target.isNode && context.request.method === "GET"`, without: `if (false`, test: requests, name: "security: who may only read" },
];
