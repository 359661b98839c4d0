/** A request as a server sees it. Header names are in lower case. */
export interface BoundRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}

/** Maps each signature to the prefix of its block. */
export type BoundThinkingMemory = Map<string, string>;

interface Body {
  readonly model?: string;
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages?: readonly { readonly role?: string; readonly content?: unknown }[];
  readonly thinking?: { readonly type?: string; readonly block_binding?: unknown };
}

const beta = "thinking-binding-controls-2026-08-01";
const bindingModels = /(?:opus|sonnet|haiku)-5[.-]5|(?:fable|mythos)-5[.-][12]/;

/** Records the system prompt, tools and messages for which the thinking of a reply was made. */
export function rememberBoundThinking(
  { body }: BoundRequest,
  signatures: readonly string[],
  memory: BoundThinkingMemory,
): void {
  const { system, tools, messages = [] } = body as Body;
  for (const signature of signatures) memory.set(signature, prefixOf(system, tools, messages));
}

/**
 * Refuses thinking that was made for another prefix, with the vendor's error. With `isStrict`, refuses it
 * even if the request asks to drop it, so that tests find code that relies on the drop.
 */
export function checkBoundThinking(
  { headers, body }: BoundRequest,
  memory: BoundThinkingMemory,
  isStrict = false,
): string | undefined {
  const { model = "", system, tools, messages = [], thinking } = body as Body;
  const hasBeta = String(headers["anthropic-beta"] ?? "").includes(beta);
  if (thinking?.block_binding !== undefined && !hasBeta) {
    return "thinking.block_binding: Extra inputs are not permitted";
  }
  if (!bindingModels.test(model)) return undefined;
  if (JSON.stringify(thinking?.block_binding) === drop && !isStrict) return undefined;
  for (const [at, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [index, block] of content.entries()) {
      const made = memory.get(block.signature ?? block.data);
      if (made === undefined || made === prefixOf(system, tools, messages.slice(0, at))) continue;
      return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
    }
  }
  return undefined;
}

const drop = JSON.stringify({ prefix_mismatch_behavior: "drop_block" });

/** The prefix without cache marks, whose places do not matter. */
function prefixOf(system: unknown, tools: unknown, messages: unknown): string {
  const withoutMarks = (key: string, value: unknown) =>
    key === "cache_control" ? undefined : value;
  return JSON.stringify([system, tools, messages], withoutMarks);
}
