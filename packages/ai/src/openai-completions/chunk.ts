/** One tool call, or a piece of it; many servers send members as null or omit them. */
export interface ToolCallPiece {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly function?:
    | {
        readonly name?: string | null | undefined;
        readonly arguments?: unknown;
      }
    | null
    | undefined;
}

/** Text, or the typed parts that some servers send instead. */
export type ChunkContent =
  | string
  | readonly {
      readonly type?: string;
      readonly text?: string | null;
      /** Mistral: reasoning as separate text parts. */
      readonly thinking?: string | readonly { readonly text?: string | null }[] | null;
    }[];

/** A part of structured reasoning (OpenRouter), sent back unchanged. */
export interface ReasoningDetail {
  readonly type?: string;
  readonly index?: number;
  readonly text?: string | null;
  readonly summary?: string | null;
  readonly [member: string]: unknown;
}

export interface ChunkDelta {
  readonly content?: ChunkContent | null | undefined;
  readonly refusal?: string | null | undefined;
  readonly reasoning_content?: string | null | undefined;
  readonly reasoning?: string | null | undefined;
  readonly reasoning_text?: string | null | undefined;
  readonly reasoning_details?: readonly ReasoningDetail[] | null | undefined;
  readonly tool_calls?: readonly (ToolCallPiece | null)[] | null | undefined;
  readonly function_call?: ToolCallPiece["function"];
}

/** Token counts under the names that different servers use. */
export interface ChunkUsage {
  readonly prompt_tokens?: number | null | undefined;
  readonly completion_tokens?: number | null | undefined;
  readonly total_tokens?: number | null | undefined;
  readonly cached_tokens?: number | null | undefined;
  readonly prompt_cache_hit_tokens?: number | null | undefined;
  readonly prompt_tokens_details?:
    | {
        readonly cached_tokens?: number | null | undefined;
        readonly cache_write_tokens?: number | null | undefined;
      }
    | null
    | undefined;
  readonly completion_tokens_details?:
    | { readonly reasoning_tokens?: number | null | undefined }
    | null
    | undefined;
}

/** One alternative of a reply; only the first is read. */
interface ChunkChoice {
  readonly delta?: ChunkDelta | null | undefined;
  /** Some servers send the whole message at once. */
  readonly message?: ChunkDelta | null | undefined;
  readonly finish_reason?: string | null | undefined;
  readonly usage?: ChunkUsage | null | undefined;
}

/** A streamed chunk, with every member optional. */
export interface CompletionsChunk {
  readonly id?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly choices?: readonly (ChunkChoice | null)[] | null | undefined;
  readonly usage?: ChunkUsage | null | undefined;
  readonly x_groq?: { readonly usage?: ChunkUsage | null | undefined } | null | undefined;
  readonly service_tier?: string | null | undefined;
  readonly error?: unknown;
}
