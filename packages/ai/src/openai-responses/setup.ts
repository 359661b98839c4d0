import type { FunctionTool, ResponseInputItem } from "openai/resources/responses/responses";
import type { ReasoningEffort } from "openai/resources/shared";
import { changedInstructions, type PrefixWire, toolChanges } from "../request/setup.ts";

/** A function in a request; not every server accepts `strict`. */
export type EncodedTool = Omit<FunctionTool, "strict"> & Partial<Pick<FunctionTool, "strict">>;

export interface ResponsesShapes {
  readonly turn: ResponseInputItem;
  readonly change: ResponseInputItem;
  readonly tool: EncodedTool;
  readonly effort: string;
}

/** Setup changes are separate items between the others. */
export const responsesPrefixWire: PrefixWire<ResponsesShapes> = {
  nameOf: ({ name }) => name,
  changes(_first, from, to) {
    const { added } = toolChanges<ResponsesShapes>(responsesPrefixWire, from, to);
    const items: ResponseInputItem[] = [];
    if (added.length > 0) {
      const tools = added as readonly FunctionTool[];
      items.push({ type: "additional_tools", role: "developer", tools: [...tools] });
    }
    if (from.system !== to.system) {
      items.push({ role: to.role ?? "developer", content: changedInstructions(to.system) });
    }
    return items;
  },
  // The SDK's type lists fewer efforts than the models support.
  effort: (effort) => ({
    type: "configuration_update",
    reasoning: { effort: effort as ReasoningEffort },
  }),
  startsTurn: (turn) => turn !== undefined && "role" in turn && turn.role === "user",
  signaturesOf: () => [],
  withoutThinking: (turn) => turn,
};
