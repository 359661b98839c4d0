/** What a function learns of a request besides its parameters. */
export interface AskedRequest {
  readonly id: string;
  readonly toolCallId?: string | undefined;
  readonly promptId?: string | undefined;
  /** The subagent that asks; nested ones are joined by `/`. */
  readonly agentId?: string | undefined;
  /** When the question is given up, in ms since the epoch. */
  readonly deadlineAt?: number | undefined;
}
