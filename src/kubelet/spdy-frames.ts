/** Frames of SPDY/3.1, as both ends of an exec, attach or port-forward write them (SPDY draft 3.1, sections 2.2 and 2.6). */

export const frameTypes = { synStream: 1, synReply: 2, resetStream: 3, ping: 6, goAway: 7 } as const;
export const flagFin = 1;
/** More than this goes into several frames. */
export const maxPayloadBytes = 32 * 1024;

export function controlFrame(type: number, payload: Uint8Array): Buffer {
  const head = Buffer.from([0x80, 3, 0, type, 0, 0, 0, 0]);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

export function dataFrame(id: number, payload: Uint8Array, isLast: boolean): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(id, 0);
  head[4] = isLast ? flagFin : 0;
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}
