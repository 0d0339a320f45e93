/** JSON objects, one a line, on a socket. */
import type { Socket } from "node:net";

/** Calls `receive` for each object until the socket closes. A line that is no JSON ends the connection. */
export function onJsonLines(socket: Socket, receive: (message: unknown) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        socket.destroy();
        return;
      }
      receive(message);
    }
  });
}

/** Resolves when the bytes are with the kernel (or the socket is closed). */
export function sendJsonLine(socket: Socket, message: object): Promise<void> {
  if (socket.destroyed || socket.writableEnded) return Promise.resolve();
  return new Promise((resolve) => socket.write(`${JSON.stringify(message)}\n`, () => resolve()));
}
