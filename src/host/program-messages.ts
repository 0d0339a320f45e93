/** What the main process and its program server say to each other over the IPC channel (structured clone: buffers travel as they are). */

/** How a program is started. `env` is the whole environment, not an addition. */
export interface ProgramSpec {
  /** A path, or a name looked up in the PATH of `env` (or ours when `env` is absent). */
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
}

export type ProgramRequest =
  | { readonly op: "start"; readonly id: number; readonly spec: ProgramSpec }
  | { readonly op: "detach"; readonly id: number; readonly spec: ProgramSpec; readonly outputPath?: string }
  | { readonly op: "write"; readonly id: number; readonly data: Uint8Array }
  | { readonly op: "end"; readonly id: number }
  | { readonly op: "kill"; readonly id: number; readonly signal: string }
  /** The main process has taken `bytes` of output; the server stops reading when too much is untaken. */
  | { readonly op: "taken"; readonly id: number; readonly stream: OutputStream; readonly bytes: number };

export type ProgramReply =
  | { readonly op: "started"; readonly id: number; readonly pid: number }
  | { readonly op: "failed"; readonly id: number; readonly message: string; readonly code: string }
  | { readonly op: "data"; readonly id: number; readonly stream: OutputStream; readonly data: Uint8Array }
  | { readonly op: "closed"; readonly id: number; readonly stream: OutputStream }
  | { readonly op: "written"; readonly id: number }
  | { readonly op: "exited"; readonly id: number; readonly exitCode: number };

export type OutputStream = "stdout" | "stderr";

/** Output the server sends before it waits for `taken`. */
export const outputWindowBytes = 256 * 1024;
