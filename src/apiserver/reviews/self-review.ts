/** SelfSubjectReview: who the server takes the caller for (KEP-3325). */
import type { KubeObject } from "../../apimachinery/object.ts";
import { formatTime } from "../../apimachinery/time.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestContext } from "../request-context.ts";

export function reviewSelf(object: KubeObject, context: RequestContext): KubeObject {
  return { ...object, metadata: { creationTimestamp: formatTime(context.server.clock.nowMs()) }, status: { userInfo: userInfoJson(context.user) } };
}

/** A user as the API shows it. */
export function userInfoJson(user: UserInfo): object {
  return {
    ...(user.username !== "" && { username: user.username }),
    ...(user.uid !== undefined && user.uid !== "" && { uid: user.uid }),
    ...(user.groups.length > 0 && { groups: [...user.groups] }),
    ...(user.extra !== undefined && Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
}
