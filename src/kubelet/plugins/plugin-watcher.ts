/**
 * Plugins of the node (CSI drivers, devices) announce themselves by a socket in one folder: who makes one is asked what it is, handed to
 * the handler of its type, and told the outcome (kubelet API `pluginregistration/v1`). A socket that goes takes its plugin with it. Driven
 * by the folder's changes; a registration that fails is tried again with growing pauses as long as the socket is there.
 */
import { watch } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MessageFacts } from "../../apimachinery/protobuf/messages.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { TaskGroup } from "../../base/task-group.ts";
import { GrpcConnection } from "../runtime/containerd/grpc.ts";
import registrationTables from "./data/registration-v1.json" with { type: "json" };

export interface Plugin {
  readonly name: string;
  /** The socket where it serves. */
  readonly endpoint: string;
  readonly versions: readonly string[];
}

export interface PluginHandler {
  /** Takes the plugin in; throws what it is told. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  deregister(plugin: Plugin): Promise<void>;
}

export interface PluginWatcherOptions {
  readonly directory: string;
  /** By the types plugins call themselves: `CSIPlugin`, `DevicePlugin`, `DRAPlugin`. */
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Known {
  /** Another file under the same name is another plugin. */
  readonly identity: string;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

export class PluginWatcher {
  readonly #options: PluginWatcherOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: PluginWatcherOptions) {
    this.#options = options;
  }

  /** Returns when `signal` aborts; plugins stay registered. */
  async run(signal: AbortSignal): Promise<void> {
    const { directory, log } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o750 });
    const group = new TaskGroup({ parent: signal, onFailure: (name, error) => log.error("A plugin's registration failed", { name, error }) });
    let wake: (() => void) | undefined;
    let isDirty = true;
    const notice = () => {
      isDirty = true;
      wake?.();
    };
    const watcher = watch(directory, notice);
    signal.addEventListener("abort", notice, { once: true });
    try {
      while (!signal.aborted) {
        if (!isDirty) await new Promise<void>((resolve) => (wake = resolve));
        isDirty = false;
        if (!signal.aborted) await this.#scan(group);
      }
    } finally {
      watcher.close();
      signal.removeEventListener("abort", notice);
      await group.close();
    }
  }

  async #scan(group: TaskGroup): Promise<void> {
    const { directory } = this.#options;
    const present = new Map<string, string>();
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      // Names with a dot in front are being made.
      if (!entry.isSocket() || entry.name.startsWith(".")) continue;
      const path = join(directory, entry.name);
      const stats = await stat(path).catch(() => undefined);
      if (stats !== undefined) present.set(path, `${stats.dev} ${stats.ino} ${stats.ctimeMs}`);
    }
    for (const [path, known] of this.#known) {
      if (present.get(path) === known.identity) continue;
      this.#known.delete(path);
      known.abort.abort(new DOMException("the plugin's socket is gone", "AbortError"));
      await known.ended;
    }
    for (const [path, identity] of present) {
      if (this.#known.has(path)) continue;
      const abort = new AbortController();
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      this.#known.set(path, { identity, abort, ended });
      group.start(`plugin ${path}`, (signal) => this.#serve(path, abort.signal, signal).finally(resolve));
    }
  }

  /** Registers the plugin, and deregisters it when its socket goes. */
  async #serve(path: string, gone: AbortSignal, stopped: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([gone, stopped]);
    const registered = await this.#register(path, signal);
    if (registered === undefined) return;
    await new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
    if (!gone.aborted) return;
    await registered.handler.deregister(registered.plugin);
    this.#options.log.info("Deregistered a plugin", { plugin: registered.plugin.name });
  }

  async #register(path: string, signal: AbortSignal): Promise<{ handler: PluginHandler; plugin: Plugin } | undefined> {
    const { clock, log, handlers } = this.#options;
    const connection = new GrpcConnection({ socketPath: path, clock });
    const service = connection.service("pluginregistration.Registration", registrationTables as unknown as MessageFacts);
    try {
      for (let delayMs = firstRetryMs; !signal.aborted; delayMs = Math.min(maxRetryMs, delayMs * 2)) {
        try {
          const info = await service.call("GetInfo", {}, { signal, timeoutMs: callTimeoutMs, messages: ["InfoRequest", "PluginInfo"] });
          const { type, name, endpoint, supported_versions: versions } = info as { type: string; name: string; endpoint: string; supported_versions: string[] };
          const plugin: Plugin = { name, endpoint: endpoint === "" ? path : endpoint.replace(/^unix:\/\//, ""), versions };
          const handler = handlers.get(type);
          const fault =
            handler === undefined
              ? `no handler registered for plugin type: ${type} at socket ${path}`
              : await handler.register(plugin, signal).then(() => "", messageOf);
          signal.throwIfAborted();
          await service.call(
            "NotifyRegistrationStatus",
            { plugin_registered: fault === "", error: fault },
            { signal, timeoutMs: callTimeoutMs, messages: ["RegistrationStatus", "RegistrationStatusResponse"] },
          );
          if (handler !== undefined && fault === "") {
            log.info("Registered a plugin", { plugin: name, type });
            return { handler, plugin };
          }
          log.warn("Could not register a plugin", { plugin: name, type, fault });
        } catch (error) {
          if (signal.aborted) return undefined;
          log.warn("A plugin does not answer", { path, error });
        }
        await sleep(clock, delayMs, signal).catch(() => undefined);
      }
      return undefined;
    } finally {
      connection.close();
    }
  }
}

const firstRetryMs = 500;
const maxRetryMs = 122_000;
const callTimeoutMs = 10_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
