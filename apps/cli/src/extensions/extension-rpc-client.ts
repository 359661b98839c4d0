import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { RpcClient, type RpcClientOptions } from "@tau-agent/rpc-client";
import { type CommandName, commands, type SessionEvent } from "@tau-agent/rpc-protocol";
import type { ProcessEnvironment } from "../process/environment.ts";

type ExtensionClientOptions = Pick<
  RpcClientOptions,
  "cliPath" | "cwd" | "env" | "provider" | "model" | "args"
>;

const patienceMs = 60_000;

/**
 * The client that pi extensions import from their host to run agents in other processes. If the file at
 * `cliPath` does not exist, for example because its package is not installed, the client starts this program.
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
      // Subscribes before the prompt is sent; if the prompt is refused, the subscription is cancelled.
      const end = new AbortController();
      const events = this.#client.collectEvents({ timeoutMs, signal: end.signal });
      events.catch(() => {});
      try {
        await this.request("prompt", { message, ...(images && { images }) });
      } catch (error) {
        end.abort();
        throw error;
      }
      return events;
    }

    request(command: CommandName, params: object): Promise<unknown> {
      return this.#client.request(command, params as never);
    }
  }
  for (const command of Object.keys(commands) as CommandName[]) {
    Object.defineProperty(ExtensionRpcClient.prototype, camelCase(command), {
      configurable: true,
      writable: true,
      value: methodOf(command),
    });
  }
  return ExtensionRpcClient;
}

/**
 * Makes a method of a command: it takes the main fields as positional arguments and unwraps a result with a
 * single member.
 */
function methodOf(command: CommandName) {
  const { positional: main } = commands[command];
  // Named as in pi's client.
  const positional: readonly string[] = main[0] === "message" ? [...main, "images"] : main;
  const member = onlyMember(command);
  return async function method(
    this: { request(command: CommandName, params: object): Promise<unknown> },
    ...values: unknown[]
  ): Promise<unknown> {
    const fields = positional.map((field, index) => [field, values[index]] as const);
    const given = fields.filter(([, value]) => value !== undefined);
    const data = await this.request(command, Object.fromEntries(given));
    return member === undefined ? data : Reflect.get(Object(data), member);
  };
}

/** The only member of a getter's result; the results of other commands are returned whole. */
function onlyMember(command: CommandName): string | undefined {
  if (!command.startsWith("get_")) return undefined;
  const result = commands[command].result();
  const members = "shape" in result.def ? Object.keys(result.def.shape) : [];
  return members.length === 1 ? members[0] : undefined;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
