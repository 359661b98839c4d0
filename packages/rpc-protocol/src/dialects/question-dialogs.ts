import type { ExtensionUiRequest, ExtensionUiResponse } from "../vocabulary/extension-ui.ts";
import type { OpenHostRequest, QuestionResult } from "../vocabulary/host-request.ts";
import { shortened, visible } from "./approval-title.ts";

export type QuestionHostRequest = Extract<OpenHostRequest, { method: "question" }>;
type Question = QuestionHostRequest["params"]["questions"][number];
type Answer = Extract<QuestionResult, { answers: unknown }>["answers"][number];

/** The option that allows free text. */
const OTHER = "Other…";

/**
 * Shows questions as consecutive dialogs, for clients that know no host requests: a `select` for each
 * question and, after `Other…`, an `input`.
 */
export class QuestionDialogs {
  readonly #request: QuestionHostRequest;
  readonly #answers: Answer[] = [];
  #isOther = false;
  #shown = 0;

  constructor(request: QuestionHostRequest) {
    this.#request = request;
  }

  /** The id of the current dialog; the first one has the request's id. */
  get id(): string {
    const { id } = this.#request;
    return this.#shown === 0 ? id : `${id}:${this.#shown}`;
  }

  /** The dialog that waits for its answer. */
  dialog(now: number): ExtensionUiRequest {
    const { deadlineAt, agentId } = this.#request;
    const left = deadlineAt === undefined ? {} : { timeout: Math.max(1, deadlineAt - now) };
    const common = { type: "extension_ui_request", id: this.id, ...left } as const;
    const title = titleOf(this.#question, agentId);
    if (this.#isOther) return { ...common, method: "input", title };
    return { ...common, method: "select", title, options: optionsOf(this.#question) };
  }

  /** Takes the answer to the current dialog; returns undefined if another dialog follows. */
  answer({
    value,
    cancelled,
  }: Omit<ExtensionUiResponse, "type" | "id">): QuestionResult | undefined {
    if (cancelled === true || value === undefined || value.trim() === "")
      return { cancelled: true };
    this.#shown += 1;
    const label = this.#isOther ? undefined : labelOf(this.#question, value);
    if (label === undefined && !this.#isOther && value === OTHER) {
      this.#isOther = true;
      return undefined;
    }
    this.#isOther = false;
    this.#answers.push(label === undefined ? { labels: [], text: value } : { labels: [label] });
    const isDone = this.#answers.length === this.#request.params.questions.length;
    return isDone ? { answers: this.#answers } : undefined;
  }

  get #question(): Question {
    const { questions } = this.#request.params;
    return questions[this.#answers.length] ?? { question: "", options: [] };
  }
}

/** The id of the request to which a dialog of {@link QuestionDialogs} belongs. */
export function requestOfDialog(dialogId: string): string {
  return dialogId.replace(/:\d+$/, "");
}

function titleOf({ question, header, options }: Question, agentId: string | undefined): string {
  const asker = agentId === undefined ? [] : [`Agent ${agentId} asks`];
  const head = [...asker, ...(header ? [header] : []), question].join(": ");
  const described = options.filter(({ description }) => description);
  const lines = described.map(({ label, description }) => `${label}: ${description}`);
  return shortened(visible([head, ...lines].join("\n")));
}

function optionsOf({ options }: Question): string[] {
  const labels = options.map(({ label }) => visible(label));
  return labels.includes(OTHER) ? labels : [...labels, OTHER];
}

function labelOf({ options }: Question, value: string): string | undefined {
  return options.find(({ label }) => visible(label) === value)?.label;
}
