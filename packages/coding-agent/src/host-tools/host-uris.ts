import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { HostUriParams, HostUriResult, Params } from "@tau-agent/rpc-protocol";
import { ProtocolError } from "@tau-agent/rpc-protocol/plain";
import {
  type ClientUris,
  type ClosedRequest,
  type HostRequests,
  SparseSet,
} from "@tau-agent/system";

type HostUriScheme = Params<"set_host_uri_schemes">["schemes"][number];

/** The client's answer to a request for a URI. */
export type HostUriAnswer = Omit<HostUriResult, "type" | "id">;

/** The context of a request for a URI. */
export interface HostUriContext extends Pick<ToolCallContext, "signal"> {
  readonly toolCallId?: string | undefined;
  /** The subagent that makes the request; nested ids are joined by `/`. */
  readonly agentId?: string | undefined;
}

/** A scheme and what serves it: the client itself, or the caller's session for a subagent. */
export interface ServedUris {
  readonly definition: HostUriScheme;
  ask(request: HostUriParams, context: HostUriContext): Promise<HostUriAnswer>;
}

/** Schemes of files, of the network, and of Tau itself. */
const reserved: ReadonlySet<string> = new Set([
  ...["file", "http", "https", "ws", "wss", "ftp", "data", "blob", "javascript", "about", "mcp"],
]);

/** The URI schemes that the client serves; `read` and `write` accept such URIs as paths. */
export class HostUris implements ClientUris {
  readonly #requests: HostRequests;
  readonly #listeners = new SparseSet<() => void>();
  #served: readonly ServedUris[] = [];
  #wasUsed = false;

  constructor(requests: HostRequests) {
    this.#requests = requests;
  }

  /**
   * Replaces all schemes; open requests continue.
   *
   * @throws {ProtocolError} `invalid_params`, naming the member. In this case nothing changes.
   */
  set(definitions: readonly HostUriScheme[]): readonly string[] {
    const given = definitions.map((each) => ({
      ...each,
      scheme: each.scheme.trim().toLowerCase(),
    }));
    checkSchemes(given.map(({ scheme }) => scheme));
    this.inherit(
      given.map((definition) => ({ definition, ask: (...asked) => this.#ask(...asked) })),
    );
    return given.map(({ scheme }) => scheme);
  }

  /** Replaces all schemes with those of the caller's session. */
  inherit(served: readonly ServedUris[]): void {
    this.#served = served;
    this.#wasUsed ||= served.length > 0;
    for (const listener of this.#listeners) listener();
  }

  /** The schemes for a subagent; its requests are reported with its id. */
  share(agentId: string): readonly ServedUris[] {
    return this.#served.map(({ definition, ask }) => ({
      definition,
      ask: (request, { agentId: nested, ...context }) =>
        ask(request, {
          ...context,
          agentId: nested === undefined ? agentId : `${agentId}/${nested}`,
        }),
    }));
  }

  /** Calls the listener whenever the schemes are replaced; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  uriOf(path: string): string | undefined {
    // If no client ever served a scheme, such a path is still a file path.
    if (!this.#wasUsed) return undefined;
    const uri = path.trim().replace(/^@/, "");
    const scheme = schemeOf(uri);
    return scheme === undefined || scheme === "file" ? undefined : uri;
  }

  async read(uri: string, context: HostUriContext) {
    const { definition, ask } = this.#find(uri);
    const answer = contentOf(uri, "read", await ask({ operation: "read", url: uri }, context));
    const { content = "", contentType = "text/plain", notes = [], immutable } = answer;
    return { content, contentType, notes, immutable: immutable ?? definition.immutable === true };
  }

  async write(uri: string, content: string, context: HostUriContext): Promise<void> {
    const { definition, ask } = this.#find(uri);
    if (definition.writable !== true) {
      throw new ToolError(
        `Cannot write ${uri}: the client serves ${definition.scheme}:// for reading.`,
      );
    }
    contentOf(uri, "write", await ask({ operation: "write", url: uri, content }, context));
  }

  #find(uri: string): ServedUris {
    const scheme = schemeOf(uri);
    const found = this.#served.find(({ definition }) => definition.scheme === scheme);
    if (found !== undefined) return found;
    const names = this.#served.map(({ definition }) => `${definition.scheme}://`);
    const known = names.length === 0 ? "it serves no scheme now" : `it serves ${names.join(", ")}`;
    throw new ToolError(`Cannot open ${uri}: the client does not serve ${scheme}://; ${known}.`);
  }

  async #ask(request: HostUriParams, context: HostUriContext): Promise<HostUriAnswer> {
    const closed = await this.#requests.ask<HostUriAnswer>({
      method: "host_uri",
      params: request,
      toolCallId: context.toolCallId,
      agentId: context.agentId,
      signal: context.signal,
      onTimeout: "cancel",
      unanswered: "cancelled",
      // The members were validated when the frame arrived.
      read: (given) => ({ result: given as HostUriAnswer, outcome: "answered" }),
    });
    return answerOf(request, closed);
  }
}

/** The scheme of a URI with an authority, in lower case. */
function schemeOf(uri: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(uri)?.[1]?.toLowerCase();
}

function checkSchemes(schemes: readonly string[]): void {
  for (const [index, scheme] of schemes.entries()) {
    const reason = schemeProblem(scheme, schemes.slice(0, index));
    if (reason === undefined) continue;
    const field = `schemes[${index}].scheme`;
    throw new ProtocolError("invalid_params", { command: "set_host_uri_schemes", field, reason });
  }
}

function schemeProblem(scheme: string, before: readonly string[]): string | undefined {
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) {
    return "it takes a letter, then letters, digits, +, - and ., without ://";
  }
  if (reserved.has(scheme)) return `${scheme} is reserved; take a name of your own`;
  return before.includes(scheme) ? "another entry of the list has this scheme" : undefined;
}

function contentOf(
  uri: string,
  operation: HostUriParams["operation"],
  answer: HostUriAnswer,
): HostUriAnswer {
  if (answer.isError !== true) return answer;
  const said = answer.error || answer.content || "the client gave no reason";
  throw new ToolError(`Cannot ${operation} ${uri}: ${said}`);
}

function answerOf(
  { operation, url }: HostUriParams,
  { by, result, error }: ClosedRequest<HostUriAnswer>,
): HostUriAnswer {
  if (result !== undefined) return result;
  const reasons: Partial<Record<typeof by, string>> = {
    nobody: "no client is there to serve it",
    end: "the session has ended",
  };
  throw new ToolError(`Cannot ${operation} ${url}: ${error ?? reasons[by] ?? "it was aborted"}.`);
}
