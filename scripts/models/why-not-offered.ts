/** A model as described in the shared data. */
export interface ModelFacts {
  readonly id: string;
  readonly api: string;
  readonly contextWindow: number;
}

/**
 * The smallest window that a session can work in: the prompt and tools of the host, plus the tokens that
 * compaction keeps free for a reply (`compaction.reserveTokens`, 20 000 by default).
 */
const leastWindow = 20_000;

/** Models that accept only requests that sessions do not make. */
const specialModels: readonly { readonly id: RegExp; readonly reason: string }[] = [
  { id: /deep-research/, reason: "it runs only as a background job of an API of its own" },
  { id: /computer-use/, reason: "it refuses requests without its own screen tool" },
  { id: /(?:^|\/)gpt-audio/, reason: "it refuses requests that ask for no audio" },
  { id: /(?:realtime|-live-|-voice-)/, reason: "it speaks only over an audio connection" },
  // https://openrouter.ai/docs/batch-quickstart
  { id: /[-:]batch$/, reason: "it runs only as a batch job of an API of its own" },
  { id: /(?:-image|-tts)$/, reason: "it makes no tool calls" },
];

/** Why a model cannot work in a session; undefined if it can. */
export function whyNotOffered(
  { id, api, contextWindow }: ModelFacts,
  apis: readonly string[],
): string | undefined {
  if (!apis.includes(api)) return `its wire format, ${api}, is not one that Tau has`;
  const special = specialModels.find((row) => row.id.test(id));
  if (special !== undefined) return special.reason;
  if (contextWindow < leastWindow) {
    const has = contextWindow.toLocaleString("en-US");
    return `its window of ${has} tokens has no room for the prompt, the tools and a reply`;
  }
  return undefined;
}
