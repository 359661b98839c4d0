import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath, startHost } from "../support/start-host.ts";

const fixtures = fileURLToPath(
  new URL("../../../../packages/coding-agent/src/telemetry/__fixtures__/", import.meta.url),
);
const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly pid: number;
}

/** A prompt whose subagent runs a command in its own process. */
const delegating = [
  ...worker("<child>", call("bash", { command: "echo $TRACEPARENT > traceparent.txt" })),
  ...worker("delegate", call("task", { task: "<child>" })),
];

/** A host started with a tracer provider of the user's that writes spans to a file. */
function tracedPlace(settings: Readonly<Record<string, unknown>> = { "telemetry.enabled": true }) {
  const place = repositoryPlace(delegating, settings);
  onTestFinished(() => place.remove());
  const file = join(place.folder, "spans.jsonl");
  const provider = `--import=${join(fixtures, "span-writer.mjs")}`;
  const nodeOptions = [process.env.NODE_OPTIONS, provider].filter(Boolean).join(" ");
  const variables = { ...place.variables, SPAN_FILE: file, NODE_OPTIONS: nodeOptions };
  const spans = (): Span[] =>
    existsSync(file)
      ? readFileSync(file, "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  return { place: { ...place, variables }, spans };
}

/** A scripted model is named after its file. */
const nameOf = ({ name }: Span): string => name.replace(/^chat .*/, "chat");

/** The path of a span: the names of its ancestors, outermost first. */
function pathOf(span: Span, spans: readonly Span[]): string[] {
  const above = spans.find((other) => other.spanId === span.parentId);
  return above === undefined ? [nameOf(span)] : [...pathOf(above, spans), nameOf(span)];
}

describe("spans of a host with a tracer provider of the user's", () => {
  it("include those of a subagent's host, below the call that starts it", async () => {
    const { place, spans } = tracedPlace();
    const client = new RpcClient({
      command: [process.execPath, binPath],
      args: place.arguments.filter((word) => word !== "--mode" && word !== "rpc"),
      cwd: place.cwd,
      env: place.variables,
    });
    onTestFinished(() => void client.stop());
    await client.start();
    await client.promptAndWait("delegate", { traceparent });
    await client.stop();
    const paths = spans().map((span) => pathOf(span, spans()).join(" > "));
    const task = "invoke_agent tau > execute_tool task > invoke_agent task";
    expect(paths.toSorted()).toEqual([
      "invoke_agent tau",
      "invoke_agent tau > chat",
      "invoke_agent tau > chat",
      "invoke_agent tau > execute_tool task",
      task,
      `${task} > chat`,
      `${task} > chat`,
      `${task} > execute_tool bash`,
    ]);
    expect(new Set(spans().map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(spans().find(({ name }) => name === "invoke_agent tau")?.parentId).toBe(spanId);
    expect(new Set(spans().map(({ pid }) => pid)).size).toBe(2);
    const bash = spans().find(({ name }) => name === "execute_tool bash");
    const seen = readFileSync(join(place.cwd, "traceparent.txt"), "utf8");
    expect(seen).toBe(`00-${traceId}-${bash?.spanId}-01\n`);
  });

  it("belong to the span in which the host was started", async () => {
    const { place, spans } = tracedPlace();
    const variables = { ...place.variables, TRACEPARENT: traceparent };
    const host = startHost({}, { place: { ...place, variables } });
    host.send({ type: "prompt", message: "hello", traceparent: "malformed" });
    await host.until({ "...": true, type: "prompt_result" });
    expect((await host.finish()).code).toBe(0);
    const run = spans().find(({ name }) => name === "invoke_agent tau");
    expect(run).toMatchObject({ traceId, parentId: spanId });
  });
});

/** A collector that accepts spans as JSON. */
async function startCollector() {
  const spans: Span[] = [];
  const services: unknown[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
      for (const { resource, scopeSpans } of resourceSpans) {
        services.push(attributeOf(resource.attributes, "service.name"));
        for (const scope of scopeSpans) {
          for (const { parentSpanId: parentId, ...span } of scope.spans) {
            spans.push({ ...span, parentId });
          }
        }
      }
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  };
  return { spans, services, variables };
}

function attributeOf(attributes: { key: string; value: object }[], name: string): unknown {
  return Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];
}

describe("spans of a host without a tracer provider", () => {
  it("are sent to the collector named by OpenTelemetry's variables, including those of subagents", async () => {
    const collector = await startCollector();
    const place = repositoryPlace(delegating, { "telemetry.enabled": true });
    const variables = { ...place.variables, ...collector.variables };
    const host = startHost({}, { place: { ...place, variables } });
    host.send({ type: "prompt", message: "delegate" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect((await host.finish()).code).toBe(0);
    const { spans } = collector;
    const bash = spans.find(({ name }) => name === "execute_tool bash");
    expect(bash && pathOf(bash, spans)).toEqual([
      "invoke_agent tau",
      "execute_tool task",
      "invoke_agent task",
      "execute_tool bash",
    ]);
    expect(spans).toHaveLength(8);
    expect(new Set(collector.services)).toEqual(new Set(["tau"]));
  });

  it("are sent before a one-shot run exits", async () => {
    const collector = await startCollector();
    const place = repositoryPlace(worker("hello", "hi"), { "telemetry.enabled": true });
    const words = place.arguments.filter((word) => word !== "--mode" && word !== "rpc");
    const variables = { ...place.variables, ...collector.variables, OTEL_SERVICE_NAME: "mine" };
    const host = startHost(
      {},
      { place: { ...place, variables, arguments: ["-p", ...words, "hello"] } },
    );
    host.child.stdin.end();
    expect((await host.ended).code).toBe(0);
    expect(collector.spans.map(nameOf)).toEqual(["chat", "invoke_agent tau"]);
    expect(collector.services).toContain("mine");
  });

  it("prevent the start if they need an unsupported protocol, but only with telemetry on", async () => {
    for (const isOn of [true, false]) {
      const place = repositoryPlace(worker("hello", "hi"), { "telemetry.enabled": isOn });
      const variables = {
        ...place.variables,
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      };
      const host = startHost({}, { place: { ...place, variables } });
      host.child.stdin.end();
      const { code } = await host.ended;
      expect(code).toBe(isOn ? 1 : 0);
      if (isOn) expect(host.stderr).toMatch(/^tau: error: .*OTEL_EXPORTER_OTLP_PROTOCOL.*"grpc"/);
    }
  });
});

describe("disabled telemetry", () => {
  it.each([true, false])("loads nothing of OpenTelemetry; on: %s", async (isOn) => {
    const place = repositoryPlace(worker("hello", "hi"), { "telemetry.enabled": isOn });
    const file = join(place.folder, "loaded.txt");
    const hooks = `--import=${join(fixtures, "note-loads.mjs")}`;
    const nodeOptions = [process.env.NODE_OPTIONS, hooks].filter(Boolean).join(" ");
    const variables = { ...place.variables, LOADS_FILE: file, NODE_OPTIONS: nodeOptions };
    const host = startHost({}, { place: { ...place, variables } });
    host.send({ type: "prompt", message: "hello" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect((await host.finish()).code).toBe(0);
    const loaded = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(loaded.some((path) => path.endsWith("tau.js"))).toBe(true);
    const api = loaded.filter((path) =>
      readFileSync(path, "utf8").includes("opentelemetry.js.api"),
    );
    expect(api.length > 0).toBe(isOn);
  });
});
