import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import type { Places } from "./places.ts";

/** Packages that are missing or cannot be read. */
export async function packageDiagnostics(
  settings: SettingsStore,
  places: Places,
): Promise<readonly Diagnostic[]> {
  if (settings.packages.length === 0) return [];
  const { findPackages } = await import("../resources/packages/find-packages.ts");
  return (await findPackages(settings, places)).diagnostics;
}
