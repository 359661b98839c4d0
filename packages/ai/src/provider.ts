import type {
  AssistantMessage,
  LlmMessage,
  Model,
  StopReason,
  ThinkingLevel,
  ToolCall,
} from "@tau-agent/rpc-protocol/messages";
import type { ProviderErrorCode, ProviderErrorInit } from "./errors.ts";

/** A tool as a model sees it. `parameters` is a JSON Schema whose root is an object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * The tool calls undeclared tools by name: its arguments are `{name, arguments}`. Replies show such a call
   * as a call of the named tool, and requests repeat it as the model made it.
   */
  readonly callsByName?: boolean | undefined;
}

/** The parts of a request that the model reads, as opposed to options. */
export interface Context {
  readonly systemPrompt?: string | undefined;
  readonly messages: readonly LlmMessage[];
  /** In the order sent; the order must not change between turns, or prompt caches miss. */
  readonly tools?: readonly ToolDefinition[] | undefined;
  /**
   * The contexts of an earlier process's requests, limited by the model's {@link RepeatedRequests}. Given
   * with the first request of this process, so that appended changes are repeated in their places.
   */
  readonly earlier?: readonly EarlierContext[] | undefined;
}

/** The context of an earlier process's request. */
export interface EarlierContext extends Omit<Context, "earlier"> {
  readonly thinkingLevel: ThinkingLevel;
  /** The reply, whose thinking may be bound to the request. */
  readonly reply: AssistantMessage;
}

/** Thinking tokens per level for models that take a budget. */
export type ThinkingBudgets = Partial<Record<ThinkingLevel, number>>;

/** Environment variables passed in by the host. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The requested lifetime of a prompt cache entry. */
export type CacheRetention = "none" | "short" | "long";

/** Something that had to be omitted from a request. */
export interface RequestDiagnostic {
  readonly code: "tool_left_out";
  readonly tool: string;
  readonly message: string;
}

/** Options of one request. */
export interface StreamOptions {
  /** Resolved key; never logged. Some local servers need none. */
  readonly apiKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Must already be clamped to the model; default `off`. */
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly thinkingBudgets?: ThinkingBudgets | undefined;
  /** Maximum tokens of the reply; by default, the model's own limit. */
  readonly maxTokens?: number | undefined;
  /** The approximate size of the request in tokens; the output limit is reduced to fit the rest of the window. */
  readonly inputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** Added last; `null` deletes a default header. */
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  /** An address that replaces the model's own; some logins provide one. */
  readonly baseUrl?: string | undefined;
  /**
   * Whether the reply was requested by a user's prompt or by the agent itself, for example after tool
   * results, for a retry or for a summary. By default, the last message decides. Plans count only the former.
   */
  readonly initiator?: "user" | "agent" | undefined;
  /**
   * Variables that identify a cloud's endpoint and credentials: the host's own, and those stored with the
   * provider's key. The environment of the process itself is not read.
   */
  readonly environment?: Environment | undefined;
  /** Stable per session: prompt cache keys and affinity headers are derived from it. */
  readonly sessionId?: string | undefined;
  /** Default `short`. */
  readonly cacheRetention?: CacheRetention | undefined;
  /**
   * Repeats an earlier request so that the vendor keeps its prefix longer: the reply is as short as the
   * vendor allows, and nobody wants it. Only for models of which `renewalTokens` knows the cost.
   */
  readonly renewsCache?: boolean | undefined;
  /** Default the global `fetch`; the seam for recording, proxies and tests. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * From sending the request to the first event of the reply, in ms; headers, comments and pings do
   * not count. Default and 0: no limit.
   */
  readonly firstEventTimeoutMs?: number | undefined;
  /**
   * Longest silence from the headers on, in ms; comments do not end it, nor do pings before the reply
   * has begun. Default 300 000; 0: no limit.
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * Longest wait before another attempt that the caller accepts from a vendor, in ms: the error says
   * when one asks for more. Default any.
   */
  readonly maxRetryDelayMs?: number | undefined;
  /** What to do when the key is refused: where it came from, and where to get another one. */
  readonly keyStep?: string | undefined;
  /** What no error may show: keys and headers, where a vendor repeats them. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * What the reply has to fit: a JSON Schema whose root is an object, in the vendor's own form. Only
   * for models of which `hasOutputForm` says that they have one.
   */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Sees the vendor request just before it is sent; may return a replacement. */
  readonly onPayload?: ((payload: unknown) => unknown) | undefined;
  /** Is told once of each tool that the vendor would refuse, and that is left out for it. */
  readonly onDiagnostic?: ((diagnostic: RequestDiagnostic) => void) | undefined;
  /** Sees each event of the vendor's stream before it is understood; the next one waits for it. */
  readonly onStreamEvent?: ((event: unknown) => void | Promise<void>) | undefined;
}

/** Token counts as far as a vendor has told them; later values replace earlier ones. */
export interface TokenCounts {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** Part of `cacheWrite` that lives an hour. */
  cacheWrite1h?: number;
  /** Part of `output`. */
  reasoning?: number;
  totalTokens?: number;
}

/** A vendor's name for a content block (index, item id, …), unique within a reply. */
export type BlockKey = string | number;

/**
 * What a provider's reducer makes of vendor chunks. Blocks open at their first delta, in order of
 * appearance; the assembler gives them indices. Blocks may interleave.
 */
export type Delta =
  | { type: "response"; id?: string; model?: string }
  /** The vendor begins the reply once more: the final message holds only what follows. */
  | { type: "restart" }
  | { type: "text"; key: BlockKey; text: string }
  | { type: "thinking"; key: BlockKey; text: string; redacted?: boolean }
  /** `arguments` is a piece of the JSON text; `id` and `name` come as soon as known. */
  | { type: "tool_call"; key: BlockKey; id?: string; name?: string; arguments?: string }
  /** Opaque replay token of a block, set or appended to. */
  | { type: "signature"; key: BlockKey; signature: string; append?: boolean }
  /**
   * The block is complete. `text` or `arguments`, when given, is its whole content as the vendor
   * repeats it at the end: what was not streamed yet is emitted as one more delta.
   */
  | { type: "block_end"; key: BlockKey; text?: string; arguments?: string }
  | { type: "usage"; tokens: TokenCounts; costTotal?: number; serviceTier?: string }
  /**
   * The vendor's terminal event. A stream that ends without one has failed. `code` says what kind
   * of failure a reason of `error` is (default `unknown`).
   */
  | {
      type: "stop";
      reason: StopReason;
      raw?: string;
      errorMessage?: string;
      code?: ProviderErrorCode;
    };

/**
 * Vendor chunk → deltas, for one reply. Declared through a method so that providers of different
 * chunks fit into one table.
 */
export type Reducer<Chunk> = { reduce(chunk: Chunk): Iterable<Delta> }["reduce"];

/** The most images that a vendor takes in one request; undefined where no limit is known. */
export interface ImageLimits {
  readonly count?: number | undefined;
  /** Of all images together, as base64. */
  readonly bytes?: number | undefined;
}

/** One wire format: three pure functions and one effect. */
export interface Provider<Request = unknown, Chunk = unknown> {
  readonly api: string;
  /**
   * Nothing that matters follows a `stop` delta, so the reply is done at once. Default false: reading
   * goes on until the stream ends or has been silent for a second, because usage may come last.
   */
  readonly endsAtStop?: boolean;
  /** Ours → the vendor's request. Pure, and byte-stable for an unchanged prefix. */
  encode(model: Model, context: Context, options: StreamOptions): Request;
  /** Loads the vendor's SDK before a request needs it. */
  load?(): Promise<unknown>;
  /** Sends the request; the only other place that loads the vendor's SDK (its own retries set to 0). */
  open(model: Model, request: Request, options: StreamOptions): Promise<AsyncIterable<Chunk>>;
  /**
   * Is given every reply that has not failed, with the request as encoded: what later requests need to
   * know of it.
   */
  remember?(request: Request, reply: AssistantMessage): void;
  /** Where the model's requests go, if its base URL does not say so by itself. */
  address?(model: Model, options: StreamOptions): string | undefined;
  /** A reducer for one reply: vendor chunk → deltas. */
  reduce(model: Model): Reducer<Chunk>;
  /** What a thrown vendor error means. */
  classify(error: unknown): ProviderErrorInit;
  /** Most images the vendor takes in one request; default any number. */
  imageLimits?(model: Model): ImageLimits;
  /** Makes the id of a tool call acceptable to this vendor when history goes back to it. */
  normalizeToolCallId?(id: string, call: ToolCall, source: AssistantMessage): string;
}
