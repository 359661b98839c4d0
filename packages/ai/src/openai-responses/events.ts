/** An output item, with every member optional. */
export interface OutputItem {
  readonly type?: string;
  readonly id?: string | null | undefined;
  readonly call_id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly arguments?: string | null | undefined;
  readonly phase?: string | null | undefined;
  readonly content?:
    | readonly { type?: string; text?: string; refusal?: string }[]
    | null
    | undefined;
  readonly summary?: readonly { text?: string }[] | null | undefined;
  readonly encrypted_content?: string | null | undefined;
}

export interface ResponsesUsage {
  readonly input_tokens?: number | null;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  readonly total_tokens?: number | null;
}

/** A whole response, as in the first and the last event. */
export interface ResponseObject {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly status?: string | null;
  readonly service_tier?: string | null;
  readonly output?: readonly OutputItem[] | null;
  readonly usage?: ResponsesUsage | null;
  readonly error?: unknown;
  readonly incomplete_details?: { readonly reason?: string | null } | null;
}

/** One streamed event; its members depend on `type`. */
export interface ResponsesEvent {
  readonly type?: string | null | undefined;
  readonly output_index?: number | null | undefined;
  readonly item_id?: string | null | undefined;
  readonly item?: OutputItem | null | undefined;
  readonly content_index?: number | null | undefined;
  readonly summary_index?: number | null | undefined;
  readonly part?: {
    readonly type?: string;
    readonly text?: string;
    readonly refusal?: string;
  } | null;
  readonly response?: ResponseObject | null | undefined;
  readonly delta?: unknown;
  readonly text?: string | null | undefined;
  readonly arguments?: string | null | undefined;
  readonly refusal?: string | null | undefined;
  readonly message?: string | null | undefined;
  readonly code?: string | null | undefined;
  readonly error?: unknown;
}
