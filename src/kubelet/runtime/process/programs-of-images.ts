/** Which local program an image stands for, and how a container's program is made of it. Pure but for looking at files. */
import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { findOnPath, isExecutable } from "../../../host/executables.ts";
import { programPath } from "../../../host/programs.ts";
import { parseImageName } from "../../images/image-name.ts";
import type { ContainerConfig, Image } from "../cri-messages.ts";

export interface LocalProgram {
  readonly entrypoint: readonly string[];
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Programs by full image name; `nodePath` runs our hello server. */
export function builtinPrograms(nodePath: string): Map<string, LocalProgram> {
  const helloPath = programPath(import.meta.url, "hello-main");
  const hello = (version: string): LocalProgram => ({ entrypoint: [nodePath, helloPath], env: { VERSION: version } });
  return new Map([
    ["coracle.local/hello:v1", hello("v1")],
    ["coracle.local/hello:v2", hello("v2")],
  ]);
}

export function imageOf(fullName: string): Image {
  const digest = createHash("sha256").update(fullName).digest("hex");
  const parsed = parseImageName(fullName);
  const tags = parsed.isValid && parsed.digest !== undefined ? [] : [fullName];
  return { id: `sha256:${digest}`, repo_tags: tags, repo_digests: [], size: 0, username: "", pinned: false };
}

/** The command line as images and containers combine it: a container's command replaces both of the image's, its args the second. */
export function commandLine(config: ContainerConfig, program: LocalProgram | undefined): string[] {
  const command = config.command ?? [];
  const args = config.args ?? [];
  if (command.length > 0) return [...command, ...args];
  return [...(program?.entrypoint ?? []), ...(args.length > 0 ? args : (program?.command ?? []))];
}

/** The file a command names, or the text runc has for one that cannot be run. */
export async function findExecutable(command: string, path: string, workingDirectory: string): Promise<{ file: string } | { error: string }> {
  if (!command.includes("/")) {
    const file = await findOnPath(command, path);
    return file === undefined ? { error: `exec: "${command}": executable file not found in $PATH` } : { file };
  }
  const file = resolve(workingDirectory, command);
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (!exists) return { error: `exec: "${command}": stat ${command}: no such file or directory` };
  return (await isExecutable(file)) ? { file } : { error: `exec: "${command}": permission denied` };
}
