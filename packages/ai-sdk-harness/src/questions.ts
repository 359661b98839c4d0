import type { RpcClientOptions } from "@tau-agent/rpc-client";

type AnswerQuestions = NonNullable<RpcClientOptions["answerQuestions"]>;
export type QuestionRequest = Parameters<AnswerQuestions>[0];
export type QuestionResult = Awaited<ReturnType<AnswerQuestions>>;

/** The model's question as the input of the common tool `askUserQuestions`. */
export function questionInput({ questions }: QuestionRequest): object {
  return {
    allowPartialAnswers: false,
    questions: questions.map(({ question, header, options, multiSelect }, at) => ({
      id: String(at),
      question,
      ...(header !== undefined && { header }),
      options: options.map(({ label, description }) => ({
        id: label,
        label,
        ...(description !== undefined && { description }),
      })),
      allowMultiple: multiSelect === true,
      allowFreeForm: true,
    })),
  };
}

/** Converts the output of that tool to the answers for the model. */
export function questionResult({ questions }: QuestionRequest, output: unknown): QuestionResult {
  const { answers } = Object(output) as { answers?: Record<string, unknown> };
  if (answers === undefined) return { cancelled: true };
  return {
    answers: questions.map((_, at) => {
      const { optionIds = [], freeform } = Object(answers[at]) as {
        optionIds?: string[];
        freeform?: string;
      };
      return { labels: optionIds, ...(freeform !== undefined && { text: freeform }) };
    }),
  };
}
