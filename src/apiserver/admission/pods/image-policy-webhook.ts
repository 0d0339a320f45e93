/** ImagePolicyWebhook: a server elsewhere says which images may run (documentation page "Admission Control"; API type imagepolicy.k8s.io/v1alpha1 ImageReview). */
import type { Pod } from "../../../api/core-v1/types.ts";
import { AnswerCache } from "../../webhooks/answer-cache.ts";
import { WebhookError, sendReview } from "../../webhooks/review-webhook.ts";
import type { ReviewSender } from "../../webhooks/review-webhook.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { allContainers } from "./containers.ts";

export interface ImagePolicyConfiguration {
  readonly imagePolicy: {
    /** Seconds to keep an answer. */
    readonly allowTTL?: number;
    readonly denyTTL?: number;
    /** Milliseconds before the second try. */
    readonly retryBackoff?: number;
    /** What holds while nobody answers. */
    readonly defaultAllow?: boolean;
  };
  readonly send: ReviewSender;
}

interface ImageReviewStatus {
  readonly allowed?: boolean;
  readonly reason?: string;
}

const timeoutMs = 30_000;
const operations = new Set(["CREATE", "UPDATE"] as const);
const resources = new Set(["/pods"]);

/** Throws when there is no configuration: the plugin cannot do without. */
export function imagePolicyWebhook(configuration: Partial<ImagePolicyConfiguration> | undefined): AdmissionPlugin {
  if (configuration?.imagePolicy === undefined || configuration.send === undefined) throw new Error("no config specified");
  const { send, imagePolicy } = configuration;
  const { allowTTL = 300, denyTTL = 30, retryBackoff = 500, defaultAllow = false } = imagePolicy;
  let answers: AnswerCache<ImageReviewStatus> | undefined;

  async function ask(request: AdmissionRequest, spec: object): Promise<ImageReviewStatus> {
    const { clock } = request.context.server;
    answers ??= new AnswerCache(clock);
    const question = JSON.stringify(spec);
    const known = answers.get(question);
    if (known !== undefined) return known;
    const webhook = { send, clock, kind: "ImageReview", apiVersion: "imagepolicy.k8s.io/v1alpha1", timeoutMs, firstPauseMs: retryBackoff } as const;
    const status = await sendReview<ImageReviewStatus>(webhook, spec, { allowed: false });
    answers.set(question, status, 1000 * (status.allowed === true ? allowTTL : denyTTL));
    return status;
  }

  async function validate(request: AdmissionRequest): Promise<void> {
    if (!["", "ephemeralcontainers"].includes(request.subresource)) return;
    try {
      const { allowed = false, reason = "" } = await ask(request, reviewOf(request));
      if (!allowed)
        throw refuse(
          request,
          reason === "" ? "one or more images rejected by webhook backend" : `image policy webhook backend denied one or more images: ${reason}`,
        );
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      if (!defaultAllow) throw refuse(request, error.message);
    }
  }

  return { name: "ImagePolicyWebhook", operations, resources, validate };
}

/** Annotations are for others, but for those made for policies: `*.image-policy.k8s.io/*`. */
function reviewOf({ object, namespace, subresource }: AdmissionRequest): object {
  const { spec = {}, metadata } = object as unknown as Pod;
  const isAsked = (sort: string) => (sort === "ephemeral container") === (subresource === "ephemeralcontainers");
  const containers = allContainers(spec).flatMap(({ container, sort }) => (isAsked(sort) ? [{ image: container.image ?? "" }] : []));
  const annotations = Object.entries(metadata?.annotations ?? {}).filter(([key]) => key.includes(".image-policy.k8s.io/"));
  return { containers, ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }), namespace };
}
