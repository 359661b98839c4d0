import { refuse } from "../command-line/values.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import type { TraceProtocol } from "./trace-provider.ts";

type Variables = ProcessEnvironment["variables"];

/**
 * Exports spans from a host without a tracer provider of the user's: registers the official SDK, which sends
 * spans to the address in the variables of OpenTelemetry. Loads nothing if they name no collector.
 *
 * @throws {ProtocolError} `invalid_option` for a protocol that needs a provider of the user's
 */
export async function exportTraces(variables: Variables): Promise<void> {
  const protocol = traceProtocol(variables);
  if (protocol === undefined) return;
  const { registerProvider } = await import("./trace-provider.ts");
  await registerProvider(protocol, variables);
}

/** The protocol for sending spans; undefined if the variables name no collector or disable exporting. */
function traceProtocol(variables: Variables): TraceProtocol | undefined {
  const of = (name: string) =>
    variables[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || variables[`OTEL_EXPORTER_OTLP_${name}`];
  const isOff = /^true$/i.test(variables.OTEL_SDK_DISABLED ?? "");
  const isOtlp = (variables.OTEL_TRACES_EXPORTER || "otlp") === "otlp";
  if (isOff || !isOtlp || !of("ENDPOINT")) return undefined;
  const protocol = of("PROTOCOL") || "http/protobuf";
  if (protocol === "http/json" || protocol === "http/protobuf") return protocol;
  return refuse(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    `${JSON.stringify(protocol)} needs a provider of your own; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to http/protobuf or http/json`,
  );
}
