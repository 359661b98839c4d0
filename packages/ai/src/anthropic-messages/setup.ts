import type { Tool } from "@anthropic-ai/sdk/resources/messages";
import {
  changedInstructions,
  type PrefixWire,
  type Setup as SetupOf,
  toolChanges,
} from "../request/setup.ts";
import type { ControlMessage, Effort, TurnParam } from "./wire-types.ts";

/** The types of this wire format. */
export interface AnthropicShapes {
  readonly turn: TurnParam;
  readonly change: ControlMessage;
  readonly tool: Tool;
  readonly effort: Effort;
}

type Setup = SetupOf<AnthropicShapes>;
type ControlBlock = Exclude<NonNullable<ControlMessage["content"]>, string>[number];

/** Setup changes are messages with the role `system`; thinking is bound by its signature. */
export const anthropicPrefixWire: PrefixWire<AnthropicShapes> = {
  nameOf: ({ name }) => name,
  changes(first, from, to) {
    const content: ControlBlock[] = toolBlocks(first, from, to);
    if (from.system !== to.system) {
      content.push({ type: "text", text: changedInstructions(to.system) });
    }
    return content.length === 0 ? [] : [{ role: "system", content }];
  },
  effort: (effort) => ({ role: "system", content: [], output_config: { effort } }),
  // A new effort applies from the next user turn; tool results belong to the turn before.
  startsTurn(turn) {
    if (turn === undefined || typeof turn.content === "string") return true;
    return turn.content.every(({ type }) => type !== "tool_result");
  },
  signaturesOf({ role, content }) {
    if (role !== "assistant" || typeof content === "string") return [];
    return content.flatMap((block) => {
      if (block.type === "thinking") return block.signature ? [block.signature] : [];
      return block.type === "redacted_thinking" ? [block.data] : [];
    });
  },
  withoutThinking(turn) {
    const { role, content } = turn;
    if (typeof content === "string" || role !== "assistant") return turn;
    const rest = content.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking");
    return rest.length === 0 ? undefined : { role, content: rest };
  },
};

/**
 * The blocks that change the tools. Tools of `first` are referenced by name, because the request defines
 * them; others include their definition.
 */
function toolBlocks(first: Setup, from: Setup, to: Setup): ControlBlock[] {
  const { removed, added } = toolChanges<AnthropicShapes>(anthropicPrefixWire, from, to);
  const defined = new Set(first.tools.map((tool) => JSON.stringify(tool)));
  return [
    ...removed.map(({ name }): ControlBlock => ({ type: "tool_removal", tool: reference(name) })),
    ...added.map((tool): ControlBlock => {
      const isDefined = defined.has(JSON.stringify(tool));
      return {
        type: "tool_addition",
        tool: isDefined ? reference(tool.name) : { type: "tool_definition", definition: tool },
      };
    }),
  ];
}

function reference(name: string): { type: "tool_reference"; name: string } {
  return { type: "tool_reference", name };
}
