/** Shuffle sharding: each flow may use a few of a level's queues, and two flows seldom the same few (KEP-1040, "Assignment to a Queue"). */
import { createHash } from "node:crypto";

/** `handSize` distinct indices below `queues`, the same for a flow each time. Preconditions: 0 < handSize ≤ queues. */
export function dealHand(flow: { readonly schema: string; readonly distinguisher: string }, queues: number, handSize: number): Uint32Array {
  let rest = hashFlow(flow);
  const hand = new Uint32Array(handSize);
  // Cards already dealt, in rising order: the n-th card that is left lies behind as many of them as come before it.
  const dealt: number[] = [];
  for (let round = 0; round < handSize; round++) {
    const left = BigInt(queues - round);
    let card = Number(rest % left);
    rest /= left;
    let place = 0;
    for (; place < dealt.length && dealt[place]! <= card; place++) card++;
    dealt.splice(place, 0, card);
    hand[round] = card;
  }
  return hand;
}

/** 64 bits. The zero byte keeps apart a name and a distinguisher that are cut elsewhere. */
function hashFlow({ schema, distinguisher }: { readonly schema: string; readonly distinguisher: string }): bigint {
  return createHash("sha256").update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE();
}
