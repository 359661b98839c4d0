import type {
  AgentMessage,
  AssistantMessage,
  PromptResult,
} from "@tau-agent/rpc-protocol/messages";
import { contentText, lastReplyParts } from "@tau-agent/rpc-protocol/plain";
import type { Checked, OutputCheck } from "./output-schema.ts";

/** The type of the custom message that tells the model why its answer does not fit. */
export const OUTPUT_REMINDER = "output_schema";

const MAX_ATTEMPTS = 3;

export type OutputResult = Pick<
  PromptResult,
  "output" | "outputStatus" | "outputAttempts" | "text"
>;

export function createOutputAnswer(check: OutputCheck) {
  let attempts = 0;
  let given = "";
  let found: { readonly value: unknown } | undefined;

  function note(checked: Checked, text: string): string | undefined {
    attempts += 1;
    given = text;
    if ("problem" in checked) return checked.problem;
    found = checked;
    return undefined;
  }

  const isClosed = (): boolean => found !== undefined || attempts >= MAX_ATTEMPTS;
  const instruction = `<output-format>\nEnd your work on this message with one JSON value that fits this JSON Schema:\n${JSON.stringify(check.wireSchema)}\nYour last message must be the value and nothing else.\n</output-format>`;

  function judge(parts: readonly AssistantMessage[]): string | undefined {
    if (isClosed()) return undefined;
    const text = contentText(parts.flatMap(({ content }) => content));
    const problem = note(check.checkText(text), text);
    if (problem === undefined || isClosed()) return undefined;
    return `<system-reminder>\n${retryText(problem)}\n${instruction}\n</system-reminder>`;
  }

  return {
    wireSchema: check.wireSchema,
    /** Whether the model is not asked again: the answer fits, or the last attempt failed. */
    get isClosed(): boolean {
      return isClosed();
    },
    /** The text that tells the model what is expected, added to the prompt in requests. */
    instruction,
    /**
     * Judges a reply that the model means as its last.
     *
     * @returns the text for the model; undefined if the model is not asked again
     */
    judge,
    /**
     * Replays the messages of the prompt that an earlier host has stored.
     *
     * @returns the text for the model, if the last message is a reply that does not fit
     */
    replay(messages: readonly AgentMessage[]): string | undefined {
      let next: string | undefined;
      for (const [at, message] of messages.entries()) {
        // Other reminders may also follow a reply.
        if (message.role !== "custom" || message.customType === OUTPUT_REMINDER) next = undefined;
        if (message.role === "assistant" && isLast(message)) {
          next = judge(lastReplyParts(messages.slice(0, at + 1)));
        }
      }
      return next;
    },
    /** The result of a prompt that ended with this status. */
    result(status: PromptResult["status"], lastText: string): OutputResult {
      const said = {
        outputAttempts: attempts,
        text: attempts > 0 ? given : lastText,
      };
      if (status !== "completed") return { ...said, outputStatus: "absent" };
      if (found === undefined) return { ...said, outputStatus: "invalid" };
      return { ...said, outputStatus: "valid", output: found.value };
    },
  };
}

export type OutputAnswer = ReturnType<typeof createOutputAnswer>;

/** Whether the model means this reply as its last. */
function isLast({ stopReason, content }: AssistantMessage): boolean {
  return stopReason === "stop" && !content.some(({ type }) => type === "toolCall");
}

function retryText(problem: string): string {
  return `That answer does not fit the schema:\n${problem}\nSend the whole answer again.`;
}
