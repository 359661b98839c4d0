import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { ProcessEnvironment } from "../process/environment.ts";
import { VERSION } from "../process/version.ts";

export type TraceProtocol = "http/json" | "http/protobuf";

type Variables = ProcessEnvironment["variables"];

/** Registers a provider that sends spans in batches; the exporter reads its own variables. */
export async function registerProvider(
  protocol: TraceProtocol,
  variables: Variables,
): Promise<void> {
  const { OTLPTraceExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  const own = resourceFromAttributes({ "service.name": "tau", "service.version": VERSION });
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(variables),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
}

/**
 * Which traces are recorded, according to `OTEL_TRACES_SAMPLER`; by default, the parent's decision applies,
 * otherwise all are recorded.
 */
function samplerOf({
  OTEL_TRACES_SAMPLER: name = "",
  OTEL_TRACES_SAMPLER_ARG: argument,
}: Variables): Sampler {
  const root = rootSampler(name.replace(/^parentbased_/, ""), argument);
  return name !== "" && !name.startsWith("parentbased_") ? root : new ParentBasedSampler({ root });
}

function rootSampler(name: string, argument: string | undefined): Sampler {
  if (name === "always_off") return new AlwaysOffSampler();
  if (name !== "traceidratio") return new AlwaysOnSampler();
  const ratio = Number(argument || 1);
  return new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1);
}
