import type { QuestionResult } from "@tau-agent/rpc-protocol";

/** What a person answered: one answer for each question, in their order. */
export type GivenAnswers = Extract<QuestionResult, { answers: unknown }>["answers"];
