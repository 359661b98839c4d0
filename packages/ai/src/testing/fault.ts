/** A fault in one request. `afterDeltas` is the number of deltas that still arrive (default 1). */
export type Fault =
  /** An error response instead of a reply; by default, with the vendor's usual body. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message?: string | undefined;
      readonly body?: string | Readonly<Record<string, unknown>> | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  /** The vendor's own error for a conversation that is too long. */
  | { readonly kind: "overflow" }
  /** The connection breaks. */
  | {
      readonly kind: "reset";
      readonly when: "before_headers" | "after_headers" | "mid_stream";
      readonly afterDeltas?: number | undefined;
    }
  /** The reply ends normally but without its terminal event. */
  | { readonly kind: "truncate"; readonly afterDeltas?: number | undefined }
  /** Silence until the client disconnects. */
  | { readonly kind: "stall"; readonly afterDeltas?: number | undefined }
  /** Bytes that are not an event. */
  | { readonly kind: "garbage"; readonly afterDeltas?: number | undefined }
  /** The vendor's error event in the stream. */
  | {
      readonly kind: "error_event";
      readonly message: string;
      /** The vendor's error type, e.g. `overloaded_error`. */
      readonly code?: string | undefined;
      readonly afterDeltas?: number | undefined;
    }
  | { readonly kind: "redirect"; readonly location: string; readonly status?: number | undefined };

export const faultKinds: readonly string[] = [
  "status",
  "overflow",
  "reset",
  "truncate",
  "stall",
  "garbage",
  "error_event",
  "redirect",
] satisfies Fault["kind"][];

/** A 429 with `retry-after`. */
export function rateLimited(retryAfterSeconds = 1): Fault {
  const headers = { "retry-after": String(retryAfterSeconds) };
  return { kind: "status", status: 429, message: "Rate limit reached", headers };
}

/** A 529, as Anthropic sends it, or any other status that means too busy. */
export function overloaded(status = 529): Fault {
  return { kind: "status", status, message: "Overloaded" };
}

/** How many deltas arrive before the fault; undefined if it occurs before the first byte. */
export function deltasBefore(fault: Fault | undefined): number | undefined {
  if (fault === undefined || !("afterDeltas" in fault || isMidStream(fault))) return undefined;
  return "afterDeltas" in fault ? (fault.afterDeltas ?? 1) : 1;
}

function isMidStream(fault: Fault): boolean {
  if (fault.kind === "reset") return fault.when === "mid_stream";
  return fault.kind !== "status" && fault.kind !== "overflow" && fault.kind !== "redirect";
}
