import {
  context,
  diag,
  ROOT_CONTEXT,
  type Span,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { NodeTracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace-node";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTestSession, isType } from "../create/__fixtures__/test-session.ts";

const broken = (): never => {
  throw new Error("telemetry is broken");
};

/** Registers a program's telemetry for one test; the library's own errors are recorded. */
function register(provider: TracerProvider): unknown[][] {
  const errors: unknown[][] = [];
  const log = (...words: unknown[]) => void errors.push(words);
  diag.setLogger({ error: log, warn: log, info: log, debug: log, verbose: log });
  trace.setGlobalTracerProvider(provider);
  onTestFinished(() => {
    trace.disable();
    context.disable();
    diag.disable();
  });
  return errors;
}

const processor = (hooks: Partial<SpanProcessor>): TracerProvider => {
  const working: SpanProcessor = {
    onStart: () => undefined,
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  return new NodeTracerProvider({ spanProcessors: [{ ...working, ...hooks }] });
};

const spanOf = (member: PropertyKey): Span =>
  new Proxy(
    trace.wrapSpanContext({ traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 }),
    {
      get: (span, name) => {
        if (name === member) return broken;
        return name === "isRecording" ? () => true : Reflect.get(span, name);
      },
    },
  );
const spans = (member: PropertyKey): TracerProvider => ({
  getTracer: () => ({ startSpan: () => spanOf(member), startActiveSpan: broken }),
});

describe.each<[string, () => TracerProvider]>([
  ["onStart", () => processor({ onStart: broken })],
  ["onEnd", () => processor({ onEnd: broken })],
  ["forceFlush", () => processor({ forceFlush: broken })],
  ["the provider", () => ({ getTracer: broken })],
  ["the tracer", () => ({ getTracer: () => ({ startSpan: broken, startActiveSpan: broken }) })],
  ...["setAttributes", "setStatus", "end", "isRecording", "spanContext"].map(
    (member): [string, () => TracerProvider] => [member, () => spans(member)],
  ),
])("telemetry whose %s throws", (_, provider) => {
  it("changes nothing in a run", async () => {
    const errors = register(provider());
    const calls = turn([
      toolCall("bash", { command: "echo one" }),
      toolCall("read", { path: "none" }),
    ]);
    const { session, events } = await createTestSession([calls, "done"], {
      telemetry: { enabled: true, contents: true, flushMs: 1000 },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "completed", text: "done" });
    expect(await session.prompt("again")).toMatchObject({ status: "error" });
    const ends = events.filter((event) => event.type === "tool_execution_end");
    expect(ends.map(({ isError }) => isError).toSorted()).toEqual([false, true]);
    await session.dispose();
    expect(JSON.stringify(errors)).toContain("telemetry failed");
  });
});

it("runs work exactly once if the context manager throws before or after it", async () => {
  for (const isAfter of [false, true]) {
    register(processor({}));
    context.disable();
    context.setGlobalContextManager({
      active: isAfter ? () => ROOT_CONTEXT : broken,
      with: (_context, work, self, ...given) => {
        if (isAfter) Reflect.apply(work, self, given);
        return broken();
      },
      bind: (_, target) => target,
      enable: broken,
      disable: () => context as never,
    });
    const { session, events } = await createTestSession(
      [turn([toolCall("bash", { command: "echo one" })]), "done"],
      { telemetry: { enabled: true } },
    );
    expect(await session.prompt("go")).toMatchObject({ status: "completed", text: "done" });
    expect(events.filter(isType("tool_execution_start"))).toHaveLength(1);
    await session.dispose();
    context.disable();
    trace.disable();
  }
});
