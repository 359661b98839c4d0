import type { HostUriRequest, HostUriResult, Params } from "@tau-agent/rpc-protocol";
import { RunningCalls } from "./running-calls.ts";

/** The content of a URI: a text, optionally with notes for the reader. */
export type UriContent = string | Omit<HostUriResult, "type" | "id" | "isError" | "error">;

interface UriContext {
  /** The requesting subagent, as in `subagent_start`; nested ids are joined by `/`. */
  readonly agentId?: string | undefined;
  /** Aborted when the host no longer wants the answer. */
  readonly signal: AbortSignal;
}

/** A URI scheme that this client serves. The model reads the errors that its functions throw. */
export interface UriScheme {
  /** The scheme, without `://`. */
  readonly scheme: string;
  /** What the scheme is for, as a text for people. */
  readonly description?: string | undefined;
  /** Whether the content of its URIs never changes. */
  readonly immutable?: boolean | undefined;
  read(url: string, context: UriContext): UriContent | Promise<UriContent>;
  /** Without it, the scheme is read-only. */
  write?(url: string, content: string, context: UriContext): void | Promise<void>;
}

export type UriDefinition = Params<"set_host_uri_schemes">["schemes"][number];

/** Answers the host's requests for URIs. */
export class HostUriRunner extends RunningCalls<never, HostUriResult> {
  #schemes: readonly UriScheme[] = [];

  /** The schemes in the form that is sent to the host. */
  get definitions(): UriDefinition[] {
    return this.#schemes.map(definitionOf);
  }

  /** Registers schemes with the host; if the host refuses them, the earlier ones stay. */
  async register(
    schemes: readonly UriScheme[],
    send: (definitions: UriDefinition[]) => Promise<{ readonly schemes: readonly string[] }>,
  ): Promise<readonly string[]> {
    const before = this.#schemes;
    // Set before the host knows the schemes, because the first request may arrive together with its answer.
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
