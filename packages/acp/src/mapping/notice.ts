import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";

/** Something for the user, for a client that shows such; nothing for others. */
export function notice(
  client: ClientCapabilities | undefined,
  severity: "info" | "warning" | "error",
  title: string,
): SessionUpdate[] {
  if (!client?.session?.notices || title.trim() === "") return [];
  return [{ sessionUpdate: "notice", severity, title }];
}
