import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { GivenAnswers } from "./given-answers.ts";

/** Where `ask_user` gets the person's answers: the questions are asked before the tool begins. */
export interface AnswerSource {
  takeAnswers(toolCallId: string): GivenAnswers | undefined;
}

interface AskUserArguments {
  readonly questions: readonly { readonly question: string }[];
}

export async function runAskUserTool(
  { questions }: AskUserArguments,
  source: AnswerSource,
  { toolCallId }: ToolCallContext,
): Promise<ToolResult> {
  const answers = source.takeAnswers(toolCallId);
  if (answers === undefined) throw new ToolError("The question was not asked.");
  const text = questions
    .map(({ question }, index) => {
      const { labels = [], text: own } = answers[index] ?? {};
      return [question, ...labels.map((label) => `- ${label}`), ...(own ? [own] : [])].join("\n");
    })
    .join("\n\n");
  return { content: [{ type: "text", text }], details: { answers } };
}
