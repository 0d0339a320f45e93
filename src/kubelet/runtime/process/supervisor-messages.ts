/** What the runtime `process` and a pod's supervisor say to each other over a unix socket: a JSON object a line. */

export interface ProgramStart {
  readonly id: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** "" when no log is kept. */
  readonly logPath: string;
  /** Where the state is kept for a later runtime: see `ProgramState`. */
  readonly statePath: string;
  /** Whether input stays open for attachers; without, the program reads an empty input. */
  readonly stdin: boolean;
  /** Whether input ends with the first attacher. */
  readonly stdinOnce: boolean;
}

export type SupervisorRequest =
  | { readonly op: "start"; readonly sequence: number; readonly start: ProgramStart }
  /** To the program alone, or to its whole process group. */
  | { readonly op: "signal"; readonly sequence: number; readonly id: string; readonly signal: string; readonly toGroup: boolean }
  | { readonly op: "reopenLog"; readonly sequence: number; readonly id: string }
  /** From here on the connection carries `AttachInput` and `AttachOutput`. */
  | { readonly op: "attach"; readonly id: string }
  /** Kills every program and ends the supervisor. */
  | { readonly op: "end"; readonly sequence: number };

export type SupervisorReply =
  | { readonly op: "done"; readonly sequence: number; readonly error?: string; readonly pid?: number; readonly startedAtMs?: number }
  /** To every connection. */
  | { readonly op: "ended"; readonly id: string; readonly exitCode: number; readonly finishedAtMs: number };

/** Data is base64. */
export type AttachInput = { readonly data: string } | { readonly end: true };
export type AttachOutput = { readonly stream: "stdout" | "stderr"; readonly data: string };

/** The file a runtime that starts later reads. */
export type ProgramState =
  | { readonly state: "running"; readonly pid: number; readonly startTicks: number; readonly startedAtMs: number }
  | {
      readonly state: "ended";
      readonly startedAtMs: number;
      readonly exitCode: number;
      readonly finishedAtMs: number;
      /** Only when it could not be started. */
      readonly startError?: string;
    };
