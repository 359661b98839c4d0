import type { QuestionResult } from "@tau-agent/rpc-protocol";

/** A person's answers: one for each question, in the same order. */
export type GivenAnswers = Extract<QuestionResult, { answers: unknown }>["answers"];
