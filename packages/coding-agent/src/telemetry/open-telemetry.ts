import type { SettingsStore } from "@tau-agent/system";
import type { RecordedTelemetryOptions } from "./recorded-telemetry.ts";
import type { SessionTelemetry, TelemetryOptions } from "./session-telemetry.ts";

export async function openTelemetry(
  { enabled, contents, register, flushMs = 0 }: TelemetryOptions,
  {
    settings,
    ...session
  }: Omit<RecordedTelemetryOptions, "hasContents" | "flush"> & {
    readonly settings: SettingsStore;
  },
): Promise<SessionTelemetry | undefined> {
  if (!(enabled ?? settings.get("telemetry.enabled"))) return undefined;
  const { RecordedTelemetry, flushProvider, hasProvider } = await import("./recorded-telemetry.ts");
  if (!hasProvider()) await register?.();
  const hasContents = contents ?? settings.get("telemetry.contents");
  return new RecordedTelemetry({ ...session, hasContents, flush: () => flushProvider(flushMs) });
}
