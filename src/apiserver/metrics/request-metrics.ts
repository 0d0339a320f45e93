/**
 * Counts and durations of requests, under the names and labels that Kubernetes declares (reference page "Kubernetes Metrics"). One look-up
 * per request finds all its series; watches are counted when they end.
 */
import type { MetricRegistry } from "../../base/metrics.ts";
import type { ApiResponse, UserInfo } from "../../apimachinery/request.ts";
import { isLongRunning } from "../http/long-running.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { RequestContext } from "../request-context.ts";

const requestLabels = ["component", "group", "resource", "scope", "subresource", "verb", "version"];
const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const reading = new Set(["get", "list", "watch", "head", "options"]);

export class RequestMetrics {
  readonly #families: ReturnType<typeof declare>;
  /** By method, path shape and code. */
  readonly #series = new Map<string, RequestSeries>();

  constructor(registry: MetricRegistry) {
    this.#families = declare(registry);
  }

  /** Notes that a request came in; the returned function is called with its answer. */
  begin(context: RequestContext): (response: ApiResponse) => void {
    const { clock } = context.server;
    const startMs = clock.monotonicMs();
    const isLong = isLongRunning(context);
    const gauge = isLong ? this.#families.longRunning.series(...labelsOf(knownPart(context))) : undefined;
    if (gauge !== undefined) gauge.value += 1;
    return (response) => {
      const end = () => {
        if (gauge !== undefined) gauge.value -= 1;
        this.#finish(context, response, (clock.monotonicMs() - startMs) / 1000);
      };
      if (isLong && response.body.kind === "stream") context.streamEnded = end;
      else end();
    };
  }

  /** Notes that a request was refused so that the server is not overrun. */
  terminated(context: RequestContext, code: number): void {
    this.#families.terminations.add(1, String(code), ...labelsOf(knownPart(context)));
  }

  #finish(context: RequestContext, response: ApiResponse, seconds: number): void {
    const series = this.#seriesOf(context, response.status);
    series.total.value += 1;
    series.duration.observe(seconds);
    series.sliDuration?.observe(seconds);
    if (response.body.kind === "bytes") series.size?.observe(response.body.bytes.length);
    this.#countUser(context.user, response.status);
  }

  #seriesOf(context: RequestContext, status: number): RequestSeries {
    const info = knownPart(context);
    const dryRun = dryRunLabel(context.query.get("dryRun"));
    const key = `${info.verb} ${info.group} ${info.version} ${info.resource} ${info.subresource} ${scopeOf(info)} ${dryRun} ${status}`;
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, (series = this.#makeSeries(info, dryRun, status)));
    return series;
  }

  #makeSeries(info: RequestInfo, dryRun: string, status: number): RequestSeries {
    const { total, duration, sliDuration, size } = this.#families;
    const labels = labelsOf(info);
    const [component, ...rest] = labels as [string, ...string[]];
    const isMeasured = info.verb !== "watch";
    return {
      total: total.series(String(status), component, dryRun, ...rest),
      duration: duration.series(component, dryRun, ...rest),
      sliDuration: isMeasured ? sliDuration.series(...labels) : undefined,
      size: reading.has(info.verb) && isMeasured && info.isResourceRequest ? size.series(...labels) : undefined,
    };
  }

  #countUser({ username, groups }: UserInfo, status: number): void {
    this.#families.attempts.add(1, status === 401 ? "failure" : "success");
    if (status !== 401) this.#families.users.add(1, groups.includes("system:nodes") ? "kubelet" : username === "admin" ? "admin" : "other");
  }
}

interface RequestSeries {
  readonly total: { value: number };
  readonly duration: { observe(value: number): void };
  readonly sliDuration: { observe(value: number): void } | undefined;
  readonly size: { observe(value: number): void } | undefined;
}

function declare(registry: MetricRegistry) {
  const [component, ...rest] = requestLabels as [string, ...string[]];
  return {
    total: registry.counter("apiserver_request_total", "Requests answered, by verb, resource and HTTP code.", ["code", component, "dry_run", ...rest]),
    duration: registry.histogram("apiserver_request_duration_seconds", "Time from a request to its answer.", durationBuckets, [component, "dry_run", ...rest]),
    sliDuration: registry.histogram(
      "apiserver_request_sli_duration_seconds",
      "Time from a request to its answer, watches left out.",
      durationBuckets,
      requestLabels,
    ),
    size: registry.histogram("apiserver_response_sizes", "Bytes of answers to reads.", sizeBuckets, requestLabels),
    longRunning: registry.gauge("apiserver_longrunning_requests", "Watches and streams that are open.", requestLabels),
    terminations: registry.counter("apiserver_request_terminations_total", "Requests that were refused to protect the server.", ["code", ...requestLabels]),
    attempts: registry.counter("authentication_attempts", "Requests whose sender was looked at.", ["result"]),
    users: registry.counter("authenticated_user_requests", "Requests by kind of user.", ["username"]),
  };
}

const knownVerbs: ReadonlySet<string> = new Set([
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
  "head",
  "options",
  "post",
  "put",
  "connect",
]);
const nothingKnown = { group: "", version: "", resource: "", subresource: "" };

/** A client may ask for anything: what does not exist becomes no label, or it could make as many series as it likes. */
function knownPart({ info, server }: RequestContext): RequestInfo {
  const verb = knownVerbs.has(info.verb) ? info.verb : "other";
  if (!info.isResourceRequest) return verb === info.verb ? info : { ...info, verb };
  const definition = server.resources.find(info.group, info.version, info.resource);
  if (definition === undefined) return { ...info, ...nothingKnown, verb };
  const isKnown = verb === info.verb && (info.subresource === "" || definition.subresources.has(info.subresource));
  return isKnown ? info : { ...info, verb, subresource: definition.subresources.has(info.subresource) ? info.subresource : "" };
}

function dryRunLabel(asked: string | null): string {
  return asked === null || asked === "" ? "" : asked === "All" ? "All" : "invalid";
}

function labelsOf(info: RequestInfo): string[] {
  return [
    "apiserver",
    info.group,
    info.resource,
    scopeOf(info),
    info.subresource,
    info.isResourceRequest ? verbLabel(info) : info.verb.toUpperCase(),
    info.version,
  ];
}

function verbLabel({ verb, subresource }: RequestInfo): string {
  if (["exec", "attach", "portforward", "proxy"].includes(subresource)) return "CONNECT";
  return { create: "POST", update: "PUT" }[verb] ?? verb.toUpperCase();
}

function scopeOf(info: RequestInfo): string {
  if (!info.isResourceRequest) return "";
  if (info.name !== "" || info.verb === "create") return "resource";
  return info.namespace !== "" ? "namespace" : "cluster";
}
