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

/** A span with the context for work inside it. Exceptions of the provider are caught. */
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

  /** Sets attributes; computing them may fail, too. */
  write(attributes: () => Attributes): void {
    attempt(() => this.#span.setAttributes(attributes()));
  }

  /** Ends the span. An abort is not a failure. */
  end({ errorType, isAborted, message }: Ending = {}): void {
    if (isAborted) this.write(() => ({ [names.aborted]: true }));
    else if (errorType !== undefined) {
      this.write(() => ({ [names.errorType]: errorType }));
      const text = message === undefined ? {} : { message };
      attempt(() => this.#span.setStatus({ code: SpanStatusCode.ERROR, ...text }));
    }
    attempt(() => this.#span.end());
  }

  /** Runs work exactly once, with the span as the active one. */
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

/** Runs work, and returns a function that returns its value or throws its error. */
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

/** How work ended, if not successfully. */
export interface Ending {
  readonly errorType?: string | undefined;
  readonly isAborted?: boolean | undefined;
  /** Only if spans may have contents, because errors quote files and output. */
  readonly message?: string | undefined;
}

/** Starts a span of this package's tracer, with the currently registered provider. */
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

/** The code of an error, or else its class name. */
export function errorTypeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "_OTHER";
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "string" && code !== "") return code;
  return typeof name === "string" && name !== "" ? name : "_OTHER";
}

export { SpanKind };
