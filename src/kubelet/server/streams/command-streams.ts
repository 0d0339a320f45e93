/** Exec and attach over SPDY: one stream each for errors, stdin, stdout, stderr and the terminal's size. */
import type { StreamingResult, StreamingSession } from "../../runtime/cri.ts";
import { errorText, resize } from "./remote-command.ts";
import type { CommandStreams } from "./remote-command.ts";
import type { ServerStream, SpdyServer } from "./spdy-server.ts";

export interface StreamedCommand {
  readonly protocol: string;
  readonly streams: CommandStreams;
  open(): Promise<StreamingSession>;
}

/** Begins when every stream that was asked for is open, in whatever order. */
export async function runCommandStreams(server: SpdyServer, command: StreamedCommand): Promise<void> {
  const opened = await openedStreams(server, command);
  if (opened === undefined) return;
  const { error, stdin, stdout, stderr, resize: sizes } = opened;
  let result: StreamingResult;
  try {
    const session = await command.open();
    void forwardInput(stdin, session);
    void readSizes(sizes, session);
    await Promise.all([forwardOutput(session.stdout, stdout), forwardOutput(session.stderr, stderr)]);
    result = await session.done;
    session.close();
  } catch (failure) {
    result = { outcome: "failed", message: failure instanceof Error ? failure.message : String(failure) };
  }
  const text = errorText(result, command.protocol);
  if (text !== "") await error!.write(Buffer.from(text));
  for (const stream of [error, stdin, stdout, stderr, sizes]) await stream?.reset();
  await server.goAway();
}

const streamTypes = ["error", "stdin", "stdout", "stderr", "resize"] as const;
type StreamType = (typeof streamTypes)[number];
type Opened = Partial<Record<StreamType, ServerStream>>;

/** Undefined when the client left first. */
async function openedStreams(server: SpdyServer, { protocol, streams }: StreamedCommand): Promise<Opened | undefined> {
  const hasResize = streams.tty && (protocol.startsWith("v3") || protocol.startsWith("v4"));
  const wanted: Readonly<Record<StreamType, boolean>> = {
    error: true,
    stdin: streams.stdin,
    stdout: streams.stdout,
    stderr: streams.stderr,
    resize: hasResize,
  };
  const opened: Opened = {};
  for await (const stream of server.streams()) {
    const type = streamTypes.find((name) => name === stream.headers["streamtype"]);
    if (type !== undefined) opened[type] = stream;
    if (streamTypes.every((name) => !wanted[name] || opened[name] !== undefined)) return opened;
  }
  return undefined;
}

async function forwardInput(stdin: ServerStream | undefined, session: StreamingSession): Promise<void> {
  if (stdin === undefined) return;
  for await (const chunk of stdin.input) await session.write(chunk);
  session.endInput();
}

async function readSizes(sizes: ServerStream | undefined, session: StreamingSession): Promise<void> {
  if (sizes === undefined) return;
  for await (const chunk of sizes.input)
    for (const line of Buffer.from(chunk).toString("utf8").split("\n")) if (line !== "") resize(session, Buffer.from(line));
}

async function forwardOutput(output: AsyncIterable<Uint8Array>, stream: ServerStream | undefined): Promise<void> {
  for await (const chunk of output) await stream?.write(chunk);
  await stream?.end();
}
