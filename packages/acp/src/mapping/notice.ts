import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";

/** A notice for the user, if the client shows notices. */
export function notice(
  client: ClientCapabilities | undefined,
  severity: "info" | "warning" | "error",
  title: string,
): SessionUpdate[] {
  if (!client?.session?.notices || title.trim() === "") return [];
  return [{ sessionUpdate: "notice", severity, title }];
}
