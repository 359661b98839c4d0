import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { names } from "./attributes.ts";

/** A span with the context of what happens in it. */
export interface OpenSpan {
  readonly span: Span;
  readonly context: Context;
}

/** How work has ended, if not well. */
export interface Ending {
  /** What kind of failure it was. */
  readonly errorType?: string | undefined;
  readonly isAborted?: boolean | undefined;
  /** Only where spans may have contents: errors quote files and output. */
  readonly message?: string | undefined;
}

/** Starts a span of this package's tracer, from the provider that is registered by then. */
export function startSpan(
  name: string,
  {
    parent,
    kind,
    attributes,
  }: { readonly parent: Context; readonly kind: SpanKind; readonly attributes: Attributes },
): OpenSpan {
  const tracer = trace.getTracer("@tau-agent/coding-agent");
  const span = tracer.startSpan(name, { kind, attributes }, parent);
  return { span, context: trace.setSpan(parent, span) };
}

/** Ends a span. What was aborted has not failed. */
export function endSpan({ span }: OpenSpan, { errorType, isAborted, message }: Ending = {}): void {
  if (isAborted) span.setAttribute(names.aborted, true);
  else if (errorType !== undefined) {
    span.setAttribute(names.errorType, errorType);
    const text = message === undefined ? {} : { message };
    span.setStatus({ code: SpanStatusCode.ERROR, ...text });
  }
  span.end();
}

/** The code of an error, else its class. */
export function errorTypeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "_OTHER";
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "string" && code !== "") return code;
  return typeof name === "string" && name !== "" ? name : "_OTHER";
}

/** Runs work with a span as the active one. */
export function within<Value>(open: OpenSpan, work: () => Value): Value {
  return context.with(open.context, work);
}

export { SpanKind };
