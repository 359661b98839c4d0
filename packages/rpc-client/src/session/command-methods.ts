import { type CommandName, commands, type Params, type Result } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { RpcError } from "../base/errors.ts";
import type { RequestOptions } from "../connection/connection.ts";
import type { CommandMethods } from "../generated/command-methods.ts";

interface Requester {
  request<N extends CommandName>(
    name: N,
    params: Params<N>,
    options?: RequestOptions,
  ): Promise<Result<N>>;
}

/**
 * A class with the methods of the command table, except for those that the client implements itself because
 * they return more than data.
 */
export type CommandClient = abstract new () => Omit<
  CommandMethods,
  "setHostTools" | "setHostUriSchemes" | "openSession" | "closeSession" | "attach" | "detach"
>;

/** Creates the class; a new command in the table needs no change here. */
export function createCommandClient(): CommandClient {
  abstract class Methods {
    abstract request: Requester["request"];
  }
  for (const name of Object.keys(commands) as CommandName[]) {
    const { positional } = commands[name];
    Object.defineProperty(Methods.prototype, camelCase(name), {
      configurable: true,
      writable: true,
      value(this: Requester, ...values: unknown[]) {
        return this.request(name, collectParams(positional, values) as Params<typeof name>);
      },
    });
  }
  return Methods as unknown as CommandClient;
}

function collectParams(
  positional: readonly string[],
  values: readonly unknown[],
): Record<string, unknown> {
  const named = values[positional.length];
  const params: Record<string, unknown> = isJsonObject(named) ? { ...named } : {};
  positional.forEach((field, index) => {
    if (values[index] !== undefined) params[field] = values[index];
  });
  return params;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * A response's `data` as the command's result.
 * @throws {RpcError} `invalid_result` if it is not even of the right kind.
 */
export function decodeResult<N extends CommandName>(name: N, data: unknown): Result<N> {
  if (isResult(name, data)) return data;
  const text = `The host answered ${name} with something other than its documented data`;
  throw new RpcError(text, { code: "invalid_result", command: name });
}

/**
 * Deliberately lenient: other versions of the host may send more or fewer members, and a strict check of a
 * long conversation would cost as much as the command.
 */
function isResult<N extends CommandName>(name: N, data: unknown): data is Result<N> {
  const kind = commands[name].data;
  if (kind === "none") return true;
  if (kind === "initialized" && data === undefined) return true;
  return isJsonObject(data) || data === null;
}
