import type {
  CreateElicitationResponse,
  ElicitationPropertySchema,
  ElicitationSchema,
  PermissionOption,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import type { QuestionParams } from "@tau-agent/coding-agent";

type Questions = QuestionParams["questions"];
type Question = Questions[number];

/** The questions of a request as one form: the options of each, and a field for a free answer. */
export function questionForm({ questions }: QuestionParams): {
  message: string;
  requestedSchema: ElicitationSchema;
} {
  const properties = questions.flatMap((question, index): [string, ElicitationPropertySchema][] => [
    [`answer${index + 1}`, choiceOf(question)],
    [`text${index + 1}`, { type: "string", title: "Or in your own words" }],
  ]);
  return {
    message: questions.map(({ question }) => question).join("\n"),
    requestedSchema: { type: "object", properties: Object.fromEntries(properties) },
  };
}

/** The answers from a filled-in form. The caller refuses empty answers. */
export function formAnswers(
  { questions }: QuestionParams,
  answer: CreateElicitationResponse | undefined,
): unknown {
  if (answer?.action !== "accept") return { cancelled: true };
  const content = Object(answer.content) as Readonly<Record<string, unknown>>;
  const answers = questions.map((_, index) => {
    const [chosen, text] = [content[`answer${index + 1}`], content[`text${index + 1}`]];
    const labels = Array.isArray(chosen) ? chosen : [chosen].filter((label) => Boolean(label));
    return { labels, ...(typeof text === "string" ? { text } : {}) };
  });
  return { answers };
}

/** For an editor without forms: one question, with a button for each option. */
export function questionOptions({ options }: Question): PermissionOption[] {
  return [
    ...options.map(({ label }, index) => {
      return { optionId: `${index}`, name: label, kind: "allow_once" as const };
    }),
    { optionId: "none", name: "No answer", kind: "reject_once" },
  ];
}

/** The question as a tool call, for an editor without forms. */
export function questionCall(question: Question, toolCallId: string): ToolCallUpdate {
  const content = { type: "text" as const, text: questionText(question) };
  const shown = { title: question.question, kind: "think", status: "pending" } as const;
  return { toolCallId, ...shown, content: [{ type: "content", content }] };
}

/** A question with descriptions of its options. */
function questionText({ question, options }: Question): string {
  const described = options.filter(({ description }) => description);
  return [question, ...described.map((it) => `${it.label}: ${it.description}`)].join("\n");
}

function choiceOf(question: Question): ElicitationPropertySchema {
  const { header, multiSelect, options } = question;
  const labels = options.map(({ label }) => label);
  const shown = { title: header ?? question.question, description: questionText(question) };
  if (multiSelect !== true) return { type: "string", ...shown, enum: labels };
  return { type: "array", ...shown, items: { type: "string", enum: labels } };
}
