import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** The data of a job. Its id is the `promptId`. */
export interface PromptJob {
  /** The session in the store; its first prompt creates it. */
  readonly sessionId: string;
  /** The session's project in the store; a session belongs to one project. */
  readonly projectKey?: string;
  readonly promptId?: string;
  /** Optional with `resume`. */
  readonly message?: string;
  /** Continues the paused prompt that `promptId` names. */
  readonly resume?: boolean;
  /** How far the prompt goes before the job completes with `status: "paused"`. */
  readonly until?: object;
  readonly images?: readonly unknown[];
  /** The message is text forwarded by a program: commands, templates and skills in it are ignored. */
  readonly verbatim?: boolean;
  readonly provider?: string;
  readonly modelId?: string;
  readonly thinkingLevel?: string;
  readonly outputSchema?: object;
  /** Passed to the checkout module. */
  readonly project?: unknown;
}

/** The result of a job. */
export interface JobResult {
  readonly status: string;
  readonly text: string;
  readonly sessionId: string;
  readonly error?: string;
  /** Why the prompt failed, or `budget_exceeded` if a used-up budget stopped the run. */
  readonly code?: string;
  /** What paused the prompt, with `status: "paused"`; another job can resume it. */
  readonly pausedBy?: string;
  readonly output?: unknown;
}

const texts = ["projectKey", "promptId", "provider", "modelId", "thinkingLevel"] as const;

/**
 * Checks the data of a job.
 *
 * @throws an error that names the member
 */
export function readJob(data: unknown): PromptJob {
  if (!isJsonObject(data)) throw new TypeError("the data is not an object");
  const job = data as unknown as PromptJob;
  if (job.resume !== undefined && typeof job.resume !== "boolean") {
    throw new TypeError("resume must be true or false");
  }
  if (job.resume && job.promptId === undefined) throw new TypeError("resume needs a promptId");
  if (job.until !== undefined && !isJsonObject(job.until)) {
    throw new TypeError("until must be an object");
  }
  const needed = job.resume ? (["sessionId"] as const) : (["sessionId", "message"] as const);
  for (const name of needed) {
    if (typeof job[name] !== "string" || job[name] === "") {
      throw new TypeError(`${name} must be a text that is not empty`);
    }
  }
  if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(job.sessionId)) {
    throw new TypeError("sessionId takes letters, digits, dots, dashes and underscores");
  }
  for (const name of texts) {
    const value: unknown = job[name];
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      throw new TypeError(`${name} must be a text that is not empty`);
    }
  }
  if (job.verbatim !== undefined && typeof job.verbatim !== "boolean") {
    throw new TypeError("verbatim must be true or false");
  }
  if (job.images !== undefined && !Array.isArray(job.images)) {
    throw new TypeError("images must be a list");
  }
  if (job.outputSchema !== undefined && !isJsonObject(job.outputSchema)) {
    throw new TypeError("outputSchema must be an object");
  }
  return job;
}
