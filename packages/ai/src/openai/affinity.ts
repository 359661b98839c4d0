import type { StreamOptions } from "../provider.ts";

/** Whether an endpoint wants to know the session, and under which names. */
export interface AffinityCompat {
  readonly sendSessionAffinityHeaders: boolean;
  readonly sessionAffinityFormat: "openai" | "openai-nosession" | "openrouter";
}

/** Headers that route the requests of one session to the same machine, where its cache is. */
export function affinityHeaders(
  compat: AffinityCompat,
  { sessionId, cacheRetention }: StreamOptions,
): Record<string, string> {
  if (!compat.sendSessionAffinityHeaders || !sessionId || cacheRetention === "none") return {};
  if (compat.sessionAffinityFormat === "openrouter") return { "x-session-id": sessionId };
  return {
    ...(compat.sessionAffinityFormat === "openai" && { "session-id": sessionId }),
    "x-client-request-id": sessionId,
    "x-session-affinity": sessionId,
  };
}
