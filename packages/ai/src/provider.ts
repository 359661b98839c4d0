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
   * Repeats an earlier request so that the vendor keeps its prefix longer. The reply is as short as the
   * vendor allows and is not used. Only for models for which `renewalTokens` returns a number.
   */
  readonly renewsCache?: boolean | undefined;
  /**
   * For recording, proxies and tests. By default, the connections of the stream function, or the global `fetch` if that
   * was replaced. A provider always receives one.
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Limit from sending the request to the first event of the reply, in ms; headers, comments and pings do not
   * count as events. Default and 0: no limit.
   */
  readonly firstEventTimeoutMs?: number | undefined;
  /**
   * The longest allowed silence after the headers, in ms. Comments do not end the silence, nor do pings
   * before the reply has begun. Default 300 000; 0: no limit.
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * The longest retry delay that the caller accepts from a vendor, in ms; the error mentions a longer one. By
   * default, any.
   */
  readonly maxRetryDelayMs?: number | undefined;
  /** What to do when the key is refused: where it came from, and where to get a new one. */
  readonly keyStep?: string | undefined;
  /** Keys and headers that no error may contain, even if a vendor repeats them. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * A JSON Schema whose root is an object, which the reply must fit, sent in the vendor's own form. Only for
   * models for which `hasOutputForm` is true.
   */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Receives the vendor request just before it is sent; may return a replacement. */
  readonly onPayload?: ((payload: unknown) => unknown) | undefined;
  /** Called once for each tool that is omitted because the vendor would refuse it. */
  readonly onDiagnostic?: ((diagnostic: RequestDiagnostic) => void) | undefined;
  /** Receives each event of the vendor's stream before it is interpreted; the next event waits for it. */
  readonly onStreamEvent?: ((event: unknown) => void | Promise<void>) | undefined;
}

/** The token counts that a vendor has reported; later values replace earlier ones. */
export interface TokenCounts {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** The part of `cacheWrite` that lives an hour. */
  cacheWrite1h?: number;
  /** The part of `output` used for thinking. */
  reasoning?: number;
  totalTokens?: number;
}

/** A vendor's name for a content block (index, item id, …), unique within a reply. */
export type BlockKey = string | number;

/**
 * The output of a provider's reducer for vendor chunks. Blocks open at their first delta, in order of
 * appearance; the assembler numbers them. Blocks may interleave.
 */
export type Delta =
  | { type: "response"; id?: string; model?: string }
  /** The vendor starts the reply again: the final message contains only what follows. */
  | { type: "restart" }
  | { type: "text"; key: BlockKey; text: string }
  | { type: "thinking"; key: BlockKey; text: string; redacted?: boolean }
  /** `arguments` is a piece of the JSON text; `id` and `name` come as soon as known. */
  | { type: "tool_call"; key: BlockKey; id?: string; name?: string; arguments?: string }
  /** Opaque replay token of a block, set or appended to. */
  | { type: "signature"; key: BlockKey; signature: string; append?: boolean }
  /**
   * The block is complete. `text` or `arguments`, if given, is its whole content as the vendor repeats it at
   * the end; the part that was not streamed is emitted as one more delta.
   */
  | { type: "block_end"; key: BlockKey; text?: string; arguments?: string }
  | { type: "usage"; tokens: TokenCounts; costTotal?: number; serviceTier?: string }
  /**
   * The vendor's terminal event. A stream that ends without one has failed. For the reason `error`, `code` is
   * the kind of failure (default `unknown`).
   */
  | {
      type: "stop";
      reason: StopReason;
      raw?: string;
      errorMessage?: string;
      code?: ProviderErrorCode;
    };

/**
 * Vendor chunk → deltas, for one reply. Declared as a method so that providers with different chunk types fit
 * into one table.
 */
export type Reducer<Chunk> = { reduce(chunk: Chunk): Iterable<Delta> }["reduce"];

/** The image limits of a vendor for one request; undefined where no limit is known. */
export interface ImageLimits {
  readonly count?: number | undefined;
  /** The total of all images, in bytes of base64. */
  readonly bytes?: number | undefined;
}

/** A wire format: three pure functions and one effect. */
export interface Provider<Request = unknown, Chunk = unknown> {
  readonly api: string;
  /**
   * Whether nothing important follows a `stop` delta, so that the reply is complete at once. Default false:
   * reading continues until the stream ends or has been silent for a second, because usage may come last.
   */
  readonly endsAtStop?: boolean;
  /** Encodes our context as the vendor's request. Pure, and byte-stable for an unchanged prefix. */
  encode(model: Model, context: Context, options: StreamOptions): Request;
  /** Loads the vendor's SDK before a request needs it. */
  load?(): Promise<unknown>;
  /** Sends the request. Apart from `load`, only this loads the vendor's SDK, whose own retries are disabled. */
  open(model: Model, request: Request, options: StreamOptions): Promise<AsyncIterable<Chunk>>;
  /** Receives every successful reply with its encoded request, to keep what later requests need to know. */
  remember?(request: Request, reply: AssistantMessage): void;
  /** Where the model's requests go, if its base URL does not say so. */
  address?(model: Model, options: StreamOptions): string | undefined;
  /** A reducer for one reply: vendor chunk → deltas. */
  reduce(model: Model): Reducer<Chunk>;
  /** Classifies an error thrown by the vendor's SDK. */
  classify(error: unknown): ProviderErrorInit;
  /** The image limits of the vendor for one request; by default, none. */
  imageLimits?(model: Model): ImageLimits;
  /** Converts the id of a tool call to one that this vendor accepts when the history is sent back. */
  normalizeToolCallId?(id: string, call: ToolCall, source: AssistantMessage): string;
}
