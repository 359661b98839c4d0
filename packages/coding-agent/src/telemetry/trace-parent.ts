import type { SpanContext } from "@opentelemetry/api";

/**
 * The format of a traceparent in W3C Trace Context, version 00; later versions may append further parts after a dash.
 */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The span that a `traceparent` names; undefined if it is malformed. */
export function readTraceParent(text: string | undefined): SpanContext | undefined {
  const match = form.exec(text?.trim() ?? "");
  if (match === null) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** The `traceparent` for a span; undefined if the span is neither recorded nor continued. */
export function traceParentOf({ traceId, spanId, traceFlags }: SpanContext): string | undefined {
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, "0")}`;
}
