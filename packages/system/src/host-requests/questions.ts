import type { QuestionParams, QuestionResult } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Answer, ClosedRequest, HostRequests, RequestOrder } from "./host-requests.ts";

type Question = QuestionParams["questions"][number];
type QuestionAnswer = Extract<QuestionResult, { answers: unknown }>["answers"][number];
type Place = Pick<
  RequestOrder<QuestionResult>,
  "id" | "promptId" | "toolCallId" | "agentId" | "timeoutMs" | "signal"
>;

/** Puts questions to a person. Never chooses an answer itself. */
export function askQuestions(
  requests: HostRequests,
  params: QuestionParams,
  place: Place,
): Promise<ClosedRequest<QuestionResult>> {
  return requests.ask<QuestionResult>({
    ...place,
    method: "question",
    params,
    onTimeout: "cancel",
    unanswered: "cancelled",
    read: (result) => readQuestionResult(result, params),
  });
}

/** Reads a client's answers; each question has one answer: known labels, a text or both. */
function readQuestionResult(
  result: unknown,
  { questions }: QuestionParams,
): Answer<QuestionResult> {
  if (!isJsonObject(result)) {
    return { field: "result", reason: "expected an object with answers, or cancelled: true" };
  }
  if (result.cancelled === true) return { result: { cancelled: true }, outcome: "cancelled" };
  const { answers } = result;
  if (!Array.isArray(answers) || answers.length !== questions.length) {
    return { field: "result.answers", reason: `expected a list of ${questions.length}` };
  }
  const read: QuestionAnswer[] = [];
  for (const [index, question] of questions.entries()) {
    const answer = readAnswer(answers[index], question);
    if ("field" in answer) {
      return { ...answer, field: `result.answers[${index}]${answer.field}` };
    }
    read.push(answer);
  }
  return { result: { answers: read }, outcome: "answered" };
}

function readAnswer(
  given: unknown,
  { options, multiSelect }: Question,
): QuestionAnswer | { readonly field: string; readonly reason: string } {
  if (!isJsonObject(given)) return { field: "", reason: "expected an object with labels or text" };
  const { labels = [], text = "" } = given;
  if (!Array.isArray(labels)) return { field: ".labels", reason: "expected a list of labels" };
  if (typeof text !== "string") return { field: ".text", reason: "expected a text" };
  const unknown = labels.findIndex((label) => options.every((option) => option.label !== label));
  if (unknown !== -1) {
    const known = options.map(({ label }) => JSON.stringify(label)).join(", ");
    return { field: `.labels[${unknown}]`, reason: `expected one of ${known}` };
  }
  if (new Set(labels).size !== labels.length) {
    return { field: ".labels", reason: "a label is there twice" };
  }
  if (labels.length > 1 && multiSelect !== true) {
    return { field: ".labels", reason: "only one may be chosen" };
  }
  const isBlank = text.trim() === "";
  if (labels.length === 0 && isBlank) {
    return { field: "", reason: "expected at least one label, or a text" };
  }
  return { labels: labels as string[], ...(isBlank ? {} : { text }) };
}
