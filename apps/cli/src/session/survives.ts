import type { CreateAgentSessionOptions, SettingsStore } from "@tau-agent/coding-agent";

/** Whether the session's running work survives its host. */
export function survives(
  { durability }: Pick<CreateAgentSessionOptions, "durability">,
  settings: Pick<SettingsStore, "get">,
): boolean {
  return (durability ?? settings.get("durability")) === "effects";
}
