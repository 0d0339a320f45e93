/** Rules of probes, and of the handlers that probes and lifecycle hooks share. */
import { numberOf } from "../../../apimachinery/json.ts";
import { forbidden, invalid, invalidEach, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isHttpHeaderName, isPort } from "../../../apimachinery/formats.ts";
import type { Container, HTTPGetAction, LifecycleHandler, Probe } from "../types.ts";

export function validateProbes(container: Container, gracePeriodSeconds: number, path: FieldPath): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  return [
    ...validateOneShotProbe(livenessProbe, gracePeriodSeconds, path.child("livenessProbe")),
    ...validateProbe(readinessProbe, gracePeriodSeconds, path.child("readinessProbe")),
    ...(readinessProbe?.terminationGracePeriodSeconds === undefined
      ? []
      : [
          invalid(
            path.child("readinessProbe", "terminationGracePeriodSeconds"),
            readinessProbe.terminationGracePeriodSeconds,
            "must not be set for readinessProbes",
          ),
        ]),
    ...validateOneShotProbe(startupProbe, gracePeriodSeconds, path.child("startupProbe")),
  ];
}

/** Exactly one action. `gracePeriodSeconds` bounds a sleep. */
export function validateHandler(handler: LifecycleHandler & Probe, gracePeriodSeconds: number, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let count = 0;
  const consider = (kind: "exec" | "httpGet" | "tcpSocket" | "grpc" | "sleep", validate: (at: FieldPath) => FieldError[]) => {
    if (handler[kind] === undefined) return;
    errors.push(...(count > 0 ? [forbidden(path.child(kind), "may not specify more than 1 handler type")] : validate(path.child(kind))));
    count++;
  };
  consider("exec", (at) => ((handler.exec!.command ?? []).length === 0 ? [required(at.child("command"))] : []));
  consider("httpGet", (at) => validateHttpGet(handler.httpGet!, at));
  consider("tcpSocket", (at) => validatePort(handler.tcpSocket!.port, at.child("port")));
  consider("grpc", (at) => validatePort(handler.grpc!.port, at.child("port")));
  consider("sleep", (at) => {
    const seconds = Number(handler.sleep!.seconds ?? 0);
    return seconds < 0 || seconds > gracePeriodSeconds
      ? [invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`)]
      : [];
  });
  if (count === 0) errors.push(required(path, "must specify a handler type"));
  return errors;
}

function validateProbe(probe: Probe | undefined, gracePeriodSeconds: number, path: FieldPath): FieldError[] {
  if (probe === undefined) return [];
  const errors = validateHandler(probe, gracePeriodSeconds, path);
  for (const field of ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] as const) {
    if ((probe[field] ?? 0) < 0) errors.push(invalid(path.child(field), probe[field], "must be greater than or equal to 0"));
  }
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && numberOf(grace) <= 0) errors.push(invalid(path.child("terminationGracePeriodSeconds"), grace, "must be greater than 0"));
  return errors;
}

/** Liveness and startup probes are right at their first success. */
function validateOneShotProbe(probe: Probe | undefined, gracePeriodSeconds: number, path: FieldPath): FieldError[] {
  const errors = validateProbe(probe, gracePeriodSeconds, path);
  const threshold = probe?.successThreshold ?? 0;
  if (probe !== undefined && threshold !== 1) errors.push(invalid(path.child("successThreshold"), threshold, "must be 1"));
  return errors;
}

function validateHttpGet({ path: urlPath, port, scheme = "", httpHeaders }: HTTPGetAction, path: FieldPath): FieldError[] {
  return [
    ...(urlPath ? [] : [required(path.child("path"))]),
    ...validatePort(port, path.child("port")),
    ...(["HTTP", "HTTPS"].includes(scheme) ? [] : [notSupported(path.child("scheme"), scheme, ["HTTP", "HTTPS"])]),
    ...(httpHeaders ?? []).flatMap(({ name = "" }) => invalidEach(path.child("httpHeaders"), name, isHttpHeaderName(name))),
  ];
}

function validatePort(port: number | string | undefined, path: FieldPath): FieldError[] {
  return invalidEach(path, port ?? 0, isPort(port ?? 0));
}
