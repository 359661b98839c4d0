import { refuse } from "../command-line/values.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import type { TraceProtocol } from "./trace-provider.ts";

type Variables = ProcessEnvironment["variables"];

/**
 * Lets spans leave a host that was started without a provider of the user's: registers the official SDK,
 * which sends them where the variables of OpenTelemetry say. Nothing is loaded before.
 *
 * @throws {ProtocolError} `invalid_option` for a protocol that needs a provider of the user's
 */
export async function exportTraces(variables: Variables): Promise<void> {
  const protocol = traceProtocol(variables);
  if (protocol === undefined) return;
  const { registerProvider } = await import("./trace-provider.ts");
  await registerProvider(protocol, variables);
}

/** How spans are sent; undefined where the variables name no collector, or say to send none. */
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
