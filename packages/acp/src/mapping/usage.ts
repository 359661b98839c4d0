import type { SessionUpdate } from "@agentclientprotocol/sdk";

export interface UsedSoFar {
  readonly tokens: number;
  /** The model's context window; without it, no usage is reported. */
  readonly contextWindow: number | undefined;
  readonly cost: number;
}

export function usageUpdate({ tokens, contextWindow, cost }: UsedSoFar): SessionUpdate[] {
  if (!contextWindow) return [];
  return [
    {
      sessionUpdate: "usage_update",
      used: Math.max(0, Math.round(tokens)),
      size: Math.round(contextWindow),
      cost: { amount: cost, currency: "USD" },
    },
  ];
}
