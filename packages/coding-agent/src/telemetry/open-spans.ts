import {
  type Attributes,
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { attempt } from "./attempt.ts";
import { names } from "./attributes.ts";

/** A span with the context of what happens in it. Nothing that the provider throws comes out of it. */
export class OpenSpan {
  readonly context: Context;
  readonly #span: Span;

  constructor(span: Span, parent: Context) {
    this.#span = span;
    this.context = attempt(() => trace.setSpan(parent, span)) ?? parent;
  }

  get isRecording(): boolean {
    return attempt(() => this.#span.isRecording()) ?? false;
  }

  get spanContext(): SpanContext {
    return attempt(() => this.#span.spanContext()) ?? INVALID_SPAN_CONTEXT;
  }

  /** Writes attributes; making them may fail, too. */
  write(attributes: () => Attributes): void {
    attempt(() => this.#span.setAttributes(attributes()));
  }

  /** Ends it. What was aborted has not failed. */
  end({ errorType, isAborted, message }: Ending = {}): void {
    if (isAborted) this.write(() => ({ [names.aborted]: true }));
    else if (errorType !== undefined) {
      this.write(() => ({ [names.errorType]: errorType }));
      const text = message === undefined ? {} : { message };
      attempt(() => this.#span.setStatus({ code: SpanStatusCode.ERROR, ...text }));
    }
    attempt(() => this.#span.end());
  }

  /** Runs work, once, with the span as the active one. */
  within<Value>(work: () => Value): Value {
    let done: (() => Value) | undefined;
    attempt(() =>
      context.with(this.context, () => {
        done = settled(work);
      }),
    );
    return done === undefined ? work() : done();
  }
}

/** What work has come to, to be returned or thrown by the caller. */
function settled<Value>(work: () => Value): () => Value {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

export function activeContext(): Context {
  return attempt(() => context.active()) ?? ROOT_CONTEXT;
}

/** How work has ended, if not well. */
export interface Ending {
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
  const span = attempt(() =>
    trace.getTracer("@tau-agent/coding-agent").startSpan(name, { kind, attributes }, parent),
  );
  return new OpenSpan(span ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT), parent);
}

/** The code of an error, else its class. */
export function errorTypeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "_OTHER";
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "string" && code !== "") return code;
  return typeof name === "string" && name !== "" ? name : "_OTHER";
}

export { SpanKind };
