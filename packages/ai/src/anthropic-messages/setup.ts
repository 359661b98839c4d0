import type { Tool } from "@anthropic-ai/sdk/resources/messages";
import type { Features } from "./features.ts";
import type { ControlMessage, Effort } from "./wire-types.ts";

/** What the model reads beside the messages, without marks for the cache. */
export interface Setup {
  readonly system: string;
  readonly tools: readonly Tool[];
  readonly effort: Effort | undefined;
}

type ControlBlock = Exclude<NonNullable<ControlMessage["content"]>, string>[number];

/** Whether the change from one setup to another can be said between two messages. */
export function canAppend(from: Setup, to: Setup, { appends }: Features): boolean {
  if (!appends.system && from.system !== to.system) return false;
  return appends.tools || toolChanges(from, to, from).length === 0;
}

/**
 * What changes instructions and tools, to be put after a user message; undefined when nothing changes.
 * Tools of `first` are named, because the request defines them; others come with their definition.
 */
export function changeMessage(first: Setup, from: Setup, to: Setup): ControlMessage | undefined {
  const content: ControlBlock[] = toolChanges(from, to, first);
  if (from.system !== to.system) content.push({ type: "text", text: changedText(to.system) });
  return content.length === 0 ? undefined : { role: "system", content };
}

/** What sets another effort for the user message that follows. */
export function effortMessage(effort: Effort): ControlMessage {
  return { role: "system", content: [], output_config: { effort } };
}

function changedText(system: string): string {
  return system === ""
    ? "The instructions given so far no longer apply."
    : `The instructions have changed. These replace all earlier ones:\n\n${system}`;
}

function toolChanges(from: Setup, to: Setup, first: Setup): ControlBlock[] {
  const before = byName(from.tools);
  const after = byName(to.tools);
  const defined = byName(first.tools);
  const isSame = (name: string, text: string) => after.get(name)?.text === text;
  const removed = [...before]
    .filter(([name, { text }]) => !isSame(name, text))
    .map(([name]): ControlBlock => ({ type: "tool_removal", tool: reference(name) }));
  const added = [...after]
    .filter(([name, { text }]) => before.get(name)?.text !== text)
    .map(([name, { tool, text }]): ControlBlock => {
      const isDefined = defined.get(name)?.text === text;
      return {
        type: "tool_addition",
        tool: isDefined ? reference(name) : { type: "tool_definition", definition: tool },
      };
    });
  return [...removed, ...added];
}

function reference(name: string): { type: "tool_reference"; name: string } {
  return { type: "tool_reference", name };
}

function byName(tools: readonly Tool[]): Map<string, { tool: Tool; text: string }> {
  return new Map(tools.map((tool) => [tool.name, { tool, text: JSON.stringify(tool) }]));
}
