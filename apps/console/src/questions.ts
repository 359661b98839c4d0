import type { RemoteOptions } from "@tau-agent/rpc-client/browser";

type Handlers = Required<
  Pick<
    RemoteOptions,
    "approve" | "raiseBudget" | "answerQuestions" | "answerElicitation" | "openUrl" | "ui"
  >
>;
type Approval = Parameters<NonNullable<Handlers["approve"]>>[0];
type Budget = Parameters<NonNullable<Handlers["raiseBudget"]>>[0];

type Asked = Parameters<NonNullable<Handlers["answerQuestions"]>>[0];
type Elicitation = Parameters<NonNullable<Handlers["answerElicitation"]>>[0];
type Page = Parameters<NonNullable<Handlers["openUrl"]>>[0];

/** A request that waits for the user. A new kind of request needs a member here and a card in `question-card`. */
export type Question = { readonly id: string; readonly sessionId: string | undefined } & (
  | { readonly kind: "approval"; readonly params: Approval }
  | { readonly kind: "budget"; readonly params: Budget }
  | { readonly kind: "question"; readonly params: Asked }
  | { readonly kind: "elicitation"; readonly params: Elicitation }
  | { readonly kind: "page"; readonly params: Page }
  | { readonly kind: "select"; readonly params: { title: string; options: readonly string[] } }
  | { readonly kind: "confirm"; readonly params: { title: string; message?: string } }
  | { readonly kind: "input"; readonly params: { title: string; text?: string; isLong?: boolean } }
);

/** The open questions of all sessions, oldest first. */
export class Questions {
  readonly #open = new Map<string, { question: Question; settle: (answer: unknown) => void }>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get all(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  of(sessionId: string): readonly Question[] {
    return this.all.filter((one) => one.sessionId === sessionId || one.sessionId === undefined);
  }

  answer(id: string, answer: unknown): void {
    this.#open.get(id)?.settle(answer);
  }

  /** The client's handlers for host requests. */
  get handlers(): Handlers {
    return {
      approve: this.#asking("approval"),
      raiseBudget: this.#asking("budget"),
      answerQuestions: this.#asking("question"),
      answerElicitation: this.#asking("elicitation"),
      openUrl: async (params, context) => {
        const isOpened = await this.#asking("page")(params, context);
        if (isOpened !== true) throw new Error("the person has not opened the page");
      },
      ui: {
        select: ({ id, sessionId, title, options }) =>
          this.#ask({ id, sessionId, kind: "select", params: { title, options } }),
        confirm: ({ id, sessionId, title, message }) =>
          this.#ask({ id, sessionId, kind: "confirm", params: { title, message } }),
        input: ({ id, sessionId, title }) =>
          this.#ask({ id, sessionId, kind: "input", params: { title } }),
        editor: ({ id, sessionId, title, prefill: text = "" }) =>
          this.#ask({ id, sessionId, kind: "input", params: { title, text, isLong: true } }),
      },
    };
  }

  /** Makes the handler for one kind of request from a session. */
  #asking<Kind extends "approval" | "budget" | "question" | "elicitation" | "page">(kind: Kind) {
    return <Answer>(
      params: Extract<Question, { kind: Kind }>["params"],
      { signal }: { readonly signal: AbortSignal },
    ): Promise<Answer> => {
      const { id, sessionId } = params;
      return this.#ask({ id, sessionId, kind, params } as Question, signal);
    };
  }

  #ask<Answer>(question: Question, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#open.delete(question.id);
        this.#onChange();
      };
      const settle = (answer: unknown): void => {
        leave();
        resolve(answer as Answer);
      };
      // Another client has answered, or the request was withdrawn.
      signal?.addEventListener("abort", () => {
        leave();
        reject(new Error("answered elsewhere"));
      });
      this.#open.set(question.id, { question, settle });
      this.#onChange();
    });
  }
}
