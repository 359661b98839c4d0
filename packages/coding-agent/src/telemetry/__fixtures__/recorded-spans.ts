import {
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { onTestFinished } from "vitest";

/** The parts of a span that tests examine. */
export interface SeenSpan {
  readonly name: string;
  readonly kind: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly message: string | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
}

export interface RecordedSpans {
  /** The ended spans, in order of their starts. */
  readonly spans: () => SeenSpan[];
  /** How often the provider was asked to flush. */
  readonly flushes: () => number;
  /** Makes later flushes hang. */
  readonly hang: () => void;
}

/** Registers the real SDK for one test. */
export function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const started = new StartOrder(exporter);
  const provider = new NodeTracerProvider({ spanProcessors: [started] });
  let flushes = 0;
  let isHanging = false;
  const flush = provider.forceFlush.bind(provider);
  provider.forceFlush = () => {
    flushes += 1;
    return isHanging ? new Promise(() => {}) : flush();
  };
  provider.register();
  onTestFinished(async () => {
    trace.disable();
    context.disable();
    propagation.disable();
    isHanging = false;
    await provider.shutdown();
  });
  return {
    spans: () => started.sorted(exporter.getFinishedSpans()).map(seen),
    flushes: () => flushes,
    hang: () => {
      isHanging = true;
    },
  };
}

/** Knows the order in which spans start: their start times are only whole milliseconds. */
class StartOrder extends SimpleSpanProcessor {
  readonly #ids: string[] = [];

  override onStart(span: Span): void {
    this.#ids.push(span.spanContext().spanId);
  }

  sorted(spans: readonly ReadableSpan[]): ReadableSpan[] {
    const positionOf = (span: ReadableSpan) => this.#ids.indexOf(span.spanContext().spanId);
    return spans.toSorted((left, right) => positionOf(left) - positionOf(right));
  }
}

function seen(span: ReadableSpan): SeenSpan {
  const { traceId, spanId } = span.spanContext();
  const { code, message } = span.status;
  return {
    name: span.name,
    kind: SpanKind[span.kind] ?? "",
    attributes: span.attributes,
    status: SpanStatusCode[code] ?? "",
    message,
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId,
  };
}

/** The spans as a tree of names, with children in order of their starts. */
export function treeOf(spans: readonly SeenSpan[], parentId?: string): unknown[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const isRoot = ({ parentId: id }: SeenSpan) => id === undefined || !known.has(id);
  const children = spans.filter((span) =>
    parentId === undefined ? isRoot(span) : span.parentId === parentId,
  );
  return children.map((span) => {
    const below = treeOf(spans, span.spanId);
    return below.length === 0 ? span.name : { [span.name]: below };
  });
}
