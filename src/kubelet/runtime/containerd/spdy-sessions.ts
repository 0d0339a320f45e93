/** Exec, attach and port-forward at the address a CRI runtime returned for them (protocols v4.channel.k8s.io and portforward.k8s.io). */
import type { PortForwardSession, StreamingResult, StreamingSession } from "../cri.ts";
import { connectSpdy } from "./spdy-client.ts";
import type { SpdyStream } from "./spdy-client.ts";

export interface StreamChoice {
  readonly tty: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export async function openRemoteCommand(url: string, choice: StreamChoice, signal?: AbortSignal): Promise<StreamingSession> {
  const connection = await connectSpdy(url, ["v4.channel.k8s.io"], signal);
  const open = (streamtype: string, isWanted: boolean) => (isWanted ? connection.openStream({ streamtype }) : undefined);
  const error = connection.openStream({ streamtype: "error" });
  const stdin = open("stdin", choice.stdin);
  const stdout = open("stdout", choice.stdout);
  const stderr = open("stderr", choice.stderr && !choice.tty);
  const resize = open("resize", choice.tty);
  const done = text(error).then((status) => {
    connection.close();
    return parseResult(status);
  });
  return {
    stdout: stdout?.output ?? nothing,
    stderr: stderr?.output ?? nothing,
    write: (data) => stdin?.write(data) ?? Promise.resolve(),
    endInput: () => stdin?.end(),
    resize: ({ width, height }) => void resize?.write(Buffer.from(`${JSON.stringify({ Width: width, Height: height })}\n`)),
    done,
    close: () => connection.close(),
  };
}

export async function openRemotePort(url: string, port: number, signal?: AbortSignal): Promise<PortForwardSession> {
  const connection = await connectSpdy(url, ["portforward.k8s.io"], signal);
  const headers = { port: String(port), requestid: "0" };
  const error = connection.openStream({ ...headers, streamtype: "error" });
  error.end();
  const data = connection.openStream({ ...headers, streamtype: "data" });
  const done = text(error).then((message) => {
    connection.close();
    return message === "" ? {} : { error: message };
  });
  return { output: data.output, write: data.write, endInput: data.end, done, close: () => connection.close() };
}

/** What the error stream of protocol v4 says at the end: a Status. Nothing at all: the connection broke. */
export function parseResult(text: string): StreamingResult {
  if (text === "") return { outcome: "failed", message: "the connection to the container runtime was lost" };
  let status: StatusText;
  try {
    status = JSON.parse(text) as StatusText;
  } catch {
    return { outcome: "failed", message: text };
  }
  if (status.status === "Success") return { outcome: "success" };
  const message = status.message ?? "";
  const exitCode = status.details?.causes?.find((cause) => cause.reason === "ExitCode")?.message;
  if (status.reason !== "NonZeroExitCode" || exitCode === undefined) return { outcome: "failed", message };
  return { outcome: "exited", exitCode: Number(exitCode), message };
}

type StatusText = { status?: string; message?: string; reason?: string; details?: { causes?: { reason?: string; message?: string }[] } };

const nothing: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

async function text(stream: SpdyStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream.output) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
