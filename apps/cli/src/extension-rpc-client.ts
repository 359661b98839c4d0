import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { RpcClient, type RpcClientOptions } from "@tau-agent/rpc-client";
import type { CommandName, SessionEvent } from "@tau-agent/rpc-protocol";
import type { ProcessEnvironment } from "./environment.ts";

/** What extensions start a further host with. */
type ExtensionClientOptions = Pick<
  RpcClientOptions,
  "cliPath" | "cwd" | "env" | "provider" | "model" | "args"
>;

/** How the family's method says a command: its fields in order, and the part of the answer it gives. */
interface MethodOfCommand {
  readonly command: CommandName;
  readonly fields?: readonly string[];
  readonly part?: string;
}

const methods: Readonly<Record<string, MethodOfCommand>> = {
  prompt: { command: "prompt", fields: ["message", "images"] },
  steer: { command: "steer", fields: ["message", "images"] },
  followUp: { command: "follow_up", fields: ["message", "images"] },
  abort: { command: "abort" },
  clearQueue: { command: "clear_queue" },
  newSession: { command: "new_session", fields: ["parentSession"] },
  getState: { command: "get_state" },
  setModel: { command: "set_model", fields: ["provider", "modelId"] },
  cycleModel: { command: "cycle_model" },
  getAvailableModels: { command: "get_available_models", part: "models" },
  setThinkingLevel: { command: "set_thinking_level", fields: ["level"] },
  cycleThinkingLevel: { command: "cycle_thinking_level" },
  getAvailableThinkingLevels: { command: "get_available_thinking_levels", part: "levels" },
  setSteeringMode: { command: "set_steering_mode", fields: ["mode"] },
  setFollowUpMode: { command: "set_follow_up_mode", fields: ["mode"] },
  compact: { command: "compact", fields: ["customInstructions"] },
  setAutoCompaction: { command: "set_auto_compaction", fields: ["enabled"] },
  setAutoRetry: { command: "set_auto_retry", fields: ["enabled"] },
  abortRetry: { command: "abort_retry" },
  bash: { command: "bash", fields: ["command"] },
  abortBash: { command: "abort_bash" },
  getSessionStats: { command: "get_session_stats" },
  exportHtml: { command: "export_html", fields: ["outputPath"] },
  switchSession: { command: "switch_session", fields: ["sessionPath"] },
  fork: { command: "fork", fields: ["entryId"] },
  clone: { command: "clone" },
  getForkMessages: { command: "get_fork_messages", part: "messages" },
  getEntries: { command: "get_entries", fields: ["since"] },
  getTree: { command: "get_tree" },
  getLastAssistantText: { command: "get_last_assistant_text", part: "text" },
  setSessionName: { command: "set_session_name", fields: ["name"] },
  getMessages: { command: "get_messages", part: "messages" },
  getCommands: { command: "get_commands", part: "commands" },
};

const patienceMs = 60_000;

/**
 * The client that extensions of the family import from their host, to run agents of their own in
 * further processes. A `cliPath` that is not there, as in a package that is not installed, means this
 * program.
 */
export function extensionRpcClient({ program, agentDirectory, cwd }: ProcessEnvironment): object {
  class ExtensionRpcClient {
    readonly #client: RpcClient;

    constructor({ cliPath, env, ...options }: ExtensionClientOptions = {}) {
      const isThere = cliPath !== undefined && existsSync(resolve(options.cwd ?? cwd, cliPath));
      this.#client = new RpcClient({
        ...options,
        ...(isThere ? { cliPath } : { command: program }),
        env: { PI_CODING_AGENT_DIR: agentDirectory, ...env },
      });
    }

    async start(): Promise<void> {
      await this.#client.start();
    }

    async stop(): Promise<void> {
      await this.#client.stop({ graceMs: 1000 });
    }

    getStderr(): string {
      return this.#client.getStderr();
    }

    onEvent(listener: (event: SessionEvent) => void): () => void {
      return this.#client.onEvent(listener);
    }

    waitForIdle(timeoutMs = patienceMs): Promise<void> {
      return this.#client.waitForIdle(timeoutMs);
    }

    collectEvents(timeoutMs = patienceMs): Promise<SessionEvent[]> {
      return this.#client.collectEvents({ timeoutMs });
    }

    async promptAndWait(message: string, images?: never[], timeoutMs = patienceMs) {
      // Heard from before the prompt is sent; when that is refused, nobody waits for its end.
      const end = new AbortController();
      const events = this.#client.collectEvents({ timeoutMs, signal: end.signal });
      events.catch(() => {});
      try {
        await this.call({ command: "prompt" }, { message, ...(images && { images }) });
      } catch (error) {
        end.abort();
        throw error;
      }
      return events;
    }

    async call({ command, part }: MethodOfCommand, params: object): Promise<unknown> {
      const data: unknown = await this.#client.request(command, params as never);
      return part === undefined ? data : Reflect.get(Object(data), part);
    }
  }
  for (const [name, method] of Object.entries(methods)) {
    const fields = method.fields ?? [];
    Object.defineProperty(ExtensionRpcClient.prototype, name, {
      configurable: true,
      writable: true,
      value(this: ExtensionRpcClient, ...values: unknown[]) {
        const pairs = fields.map((field, index) => [field, values[index]] as const);
        return this.call(
          method,
          Object.fromEntries(pairs.filter(([, value]) => value !== undefined)),
        );
      },
    });
  }
  return ExtensionRpcClient;
}
