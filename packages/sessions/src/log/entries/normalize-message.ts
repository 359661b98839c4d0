import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import {
  either,
  list,
  mendMembers,
  no,
  number,
  object,
  oneOf,
  optional,
  orNull,
  type Rule,
  type Rules,
  rulesOf,
  text,
  yes,
} from "./mend.ts";

const tokens = { input: number, output: number, cacheRead: number, cacheWrite: number };
/** The usage of a model call. */
export const usage = object({
  ...tokens,
  totalTokens: optional(number),
  reasoning: optional(number),
  cacheWrite1h: optional(number),
  cost: object({ ...tokens, total: number }),
});

/** For each kind of block: the required members, and rules for the others. */
const blocks: Readonly<Record<string, { needs: readonly string[]; rules: Rules }>> = {
  text: { needs: ["text"], rules: rulesOf({ textSignature: optional(text) }) },
  image: { needs: ["data", "mimeType"], rules: [] },
  thinking: {
    needs: ["thinking"],
    rules: rulesOf({ thinkingSignature: optional(text), redacted: optional(no) }),
  },
  toolCall: {
    needs: ["id", "name"],
    rules: rulesOf({
      arguments: object({}),
      thoughtSignature: optional(text),
      argumentsError: optional(text),
    }),
  },
};

function block(kinds: readonly string[]): (value: unknown) => unknown {
  return (value) => {
    if (!isJsonObject(value) || !kinds.includes(String(value.type))) return undefined;
    const kind = blocks[String(value.type)];
    for (const name of kind?.needs ?? []) if (typeof value[name] !== "string") return undefined;
    return mendMembers(value, kind?.rules ?? []);
  };
}

const ofText = (value: string) => [{ type: "text", text: value }];
const said = list(block(["text", "image"]), ofText);
const attachment = object({
  id: text,
  fileName: text,
  mimeType: text,
  size: number,
  content: text,
});

/** Content from a user or an extension: a text, or blocks. */
export const content = either(text, said);

const members: Readonly<Record<AgentMessage["role"], Readonly<Record<string, Rule>>>> = {
  user: {
    content,
    attachments: optional(list((value) => (attachment.fits(value) ? value : undefined))),
  },
  custom: { content, customType: text, display: yes },
  assistant: {
    content: list(block(["text", "thinking", "toolCall"]), ofText),
    api: text,
    provider: text,
    model: text,
    usage,
    stopReason: oneOf(["stop", "length", "toolUse", "error", "aborted"], "stop"),
    errorMessage: optional(text),
    responseModel: optional(text),
    responseId: optional(text),
    rawStopReason: optional(text),
  },
  toolResult: {
    toolCallId: text,
    toolName: text,
    content: said,
    isError: no,
    usage: optional(usage),
  },
  bashExecution: {
    command: text,
    output: text,
    exitCode: orNull(number),
    cancelled: no,
    truncated: no,
    fullOutputPath: orNull(text),
    excludeFromContext: optional(no),
  },
  branchSummary: { summary: text, fromId: text },
  compactionSummary: { summary: text, tokensBefore: number },
};

const roles = new Map(
  Object.entries(members).map(([role, own]) => [role, rulesOf({ ...own, timestamp: number })]),
);

/**
 * Makes a message from a file safe to use: other programs wrote `null` or a string where blocks belong, or omitted
 * usage. A valid message is returned unchanged, and so is one of an unknown role.
 */
export function normalizeMessage(message: AgentMessage): AgentMessage {
  const rules = roles.get(message.role);
  return rules === undefined ? message : mendMembers(message, rules);
}
