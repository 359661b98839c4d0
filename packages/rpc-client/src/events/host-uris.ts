import type { HostUriRequest, HostUriResult, Params } from "@tau-agent/rpc-protocol";
import { RunningCalls } from "./running-calls.ts";

/** What a URI names: a text, or with what a reader should know of it. */
export type UriContent = string | Omit<HostUriResult, "type" | "id" | "isError" | "error">;

interface UriContext {
  /** The subagent that wants it, as in `subagent_start`; nested ones are joined by `/`. */
  readonly agentId?: string | undefined;
  /** Aborted when the host does not want the answer any more. */
  readonly signal: AbortSignal;
}

/** A URI scheme that this client serves. What its functions throw, the model reads. */
export interface UriScheme {
  /** The scheme, without `://`. */
  readonly scheme: string;
  /** What it is about, for people. */
  readonly description?: string | undefined;
  /** What its URIs name never changes. */
  readonly immutable?: boolean | undefined;
  read(url: string, context: UriContext): UriContent | Promise<UriContent>;
  /** Without it, the scheme is for reading only. */
  write?(url: string, content: string, context: UriContext): void | Promise<void>;
}

export type UriDefinition = Params<"set_host_uri_schemes">["schemes"][number];

/** Answers the host's requests for URIs. */
export class HostUriRunner extends RunningCalls<never, HostUriResult> {
  #schemes: readonly UriScheme[] = [];

  /** The schemes as the host learns them. */
  get definitions(): UriDefinition[] {
    return this.#schemes.map(definitionOf);
  }

  /** Registers schemes with the host; where it refuses them, those before stay. */
  async register(
    schemes: readonly UriScheme[],
    send: (definitions: UriDefinition[]) => Promise<{ readonly schemes: readonly string[] }>,
  ): Promise<readonly string[]> {
    const before = this.#schemes;
    // Before the host knows them: its first request may come with its answer.
    this.#schemes = schemes;
    try {
      return (await send(schemes.map(definitionOf))).schemes;
    } catch (error) {
      this.#schemes = before;
      throw error;
    }
  }

  run({ id, agentId, operation, url, content = "" }: HostUriRequest): Promise<void> {
    return this.begin(id, async (signal) => {
      const context = { agentId, signal };
      try {
        const served = this.#find(url);
        if (operation === "read") {
          const read = await served.read(url, context);
          return { type: "host_uri_result", id, ...asContent(read) };
        }
        if (served.write === undefined) throw new Error("it is served for reading only");
        await served.write(url, content, context);
        return { type: "host_uri_result", id };
      } catch (failure) {
        const error = failure instanceof Error ? failure.message : String(failure);
        return { type: "host_uri_result", id, isError: true, error };
      }
    });
  }

  #find(url: string): UriScheme {
    const name = url.slice(0, url.indexOf("://")).toLowerCase();
    const found = this.#schemes.find(({ scheme }) => scheme.trim().toLowerCase() === name);
    if (found === undefined) throw new Error(`this client does not serve ${name}://`);
    return found;
  }
}

function definitionOf({ scheme, description, immutable, write }: UriScheme): UriDefinition {
  return {
    scheme,
    ...(description !== undefined && { description }),
    ...(immutable !== undefined && { immutable }),
    writable: write !== undefined,
  };
}

function asContent(given: UriContent): Exclude<UriContent, string> {
  return typeof given === "string" ? { content: given } : given;
}
