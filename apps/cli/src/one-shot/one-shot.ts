import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type AgentSession,
  type OutputSchema,
  type PromptResult,
  unfinishedPromptId,
} from "@tau-agent/coding-agent";
import { CodedError, encodeLine } from "@tau-agent/rpc-protocol";
import type { SessionEvent } from "@tau-agent/rpc-protocol/events";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { systemReason } from "@tau-agent/system";
import type { CliOptions } from "../command-line/cli-options.ts";
import { refuse } from "../command-line/values.ts";
import { hintFor } from "../process/command-line-words.ts";
import type { FrameOutput } from "../process/output.ts";
import { showingProgress } from "../process/progress.ts";
import { DeltaMerger, MERGE_INTERVAL_MS } from "../rpc/connection/delta-merger.ts";
import { EventEncoder } from "../rpc/connection/encode-event.ts";
import { FrameWriter } from "../rpc/connection/writer.ts";
import { readFiles } from "./read-files.ts";

/** The exit code for a paused prompt. */
const PAUSED = 2;

export interface Notice {
  readonly text: string;
  readonly type: "info" | "warning" | "error";
}

export interface OneShotOptions {
  readonly session: AgentSession;
  readonly options: CliOptions;
  readonly cwd: string;
  readonly output: FrameOutput;
  /** Piped text, placed before the first prompt. */
  readonly input: string;
  /** Reports problems on stderr. */
  readonly report: (text: string) => void;
  /** The notifications of extensions that have not been printed yet. */
  readonly notices: Notice[];
}

export async function runPrint(task: OneShotOptions): Promise<number> {
  const { session, output, report } = task;
  let hasReplied = false;
  if (process.stderr.isTTY) showWaits(session);
  session.subscribe((event) => {
    if (event.type === "auto_retry_start") report(describeRetry(event));
    if (event.type === "model_fallback") {
      report(`warning: ${event.from} failed (${event.reason}). ${event.to} answers.`);
    }
    if (event.type !== "message_end") return;
    const { message } = event;
    if (message.role === "assistant") hasReplied = true;
    // A visible message from an extension is the output of its command.
    if (message.role === "custom" && message.display) {
      task.notices.push({ text: contentText(message.content, "\n"), type: "info" });
    }
  });
  const result = await runPrompts(task, (each) => printNotices(each, task));
  if (result.outputStatus !== undefined) return printOutput(result, task);
  // A command that does not call a model has no reply, and the session's last reply is older than the command.
  const parts = hasReplied ? session.lastReplyParts : [];
  const last = parts.at(-1);
  const text = parts.map(({ content }) => contentText(content, "\n")).join("");
  await print(text === "" ? "" : `${text}\n`, output);
  if (isPaused(result, task)) return PAUSED;
  if (hasFailed(result, task)) return 1;
  if (last?.stopReason === "length") {
    task.report("warning: the reply was cut off at the output limit");
    return 1;
  }
  return 0;
}

/** Shows a spinner while servers start, as a diagnostic has announced. */
function showWaits(session: AgentSession): void {
  session.onDiagnostic(({ code }) => {
    if (code !== "mcp_waiting") return;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const stop = session.subscribe(({ type }) => {
      if (type === "message_start" || type === "agent_end") resolve();
    });
    void showingProgress("Connecting to MCP servers", () => over).finally(stop);
  });
}

/**
 * Prints the notices of extensions: warnings and errors on stderr, and information on stdout if the prompt was
 * handled without a model. Beside a reply, information is dropped.
 */
async function printNotices(
  { status }: PromptResult,
  { notices, output, report }: OneShotOptions,
): Promise<void> {
  for (const { text, type } of notices.splice(0)) {
    if (type !== "info") report(`${type}: ${text}`);
    else if (status === "handled" && text !== "") await print(`${text.trimEnd()}\n`, output);
  }
}

/** Prints an answer that fits its schema as JSON, and any other on stderr. */
async function printOutput(result: PromptResult, task: OneShotOptions): Promise<number> {
  const { outputStatus, outputAttempts = 0, output, text } = result;
  if (outputStatus === "valid") {
    await print(`${JSON.stringify(output)}\n`, task.output);
    return 0;
  }
  if (!hasFailed(result, task)) {
    task.report(`error: the answer does not fit the schema, after ${outputAttempts} attempts`);
  }
  if (text !== "") task.report(text);
  return 1;
}

function print(text: string, output: FrameOutput): Promise<void> {
  return new Promise((resolve) => output.write(text, resolve));
}

/** Without this notice, a user would watch a silent terminal through all waits. */
function describeRetry({
  attempt,
  maxAttempts,
  delayMs,
  errorMessage,
}: Extract<SessionEvent, { type: "auto_retry_start" }>): string {
  const wait = `${Math.ceil(delayMs / 100) / 10} s`;
  const problem = /[.!?]$/.test(errorMessage) ? errorMessage : `${errorMessage}.`;
  return `warning: ${problem} Retry ${attempt} of ${maxAttempts} in ${wait}.`;
}

/** Prints the session header, then every event as a line; returns the exit code. */
export async function runJson(task: OneShotOptions): Promise<number> {
  const { session, output } = task;
  const writer = new FrameWriter(output);
  const encoder = new EventEncoder();
  void writer.write(encodeLine(session.log.header));
  const write = (event: SessionEvent) => writer.write(encoder.encode(event));
  const merger = new DeltaMerger({ write, reader: writer }, MERGE_INTERVAL_MS);
  session.subscribe((...event) => merger.push(...event));
  const result = await runPrompts(task);
  await writer.end();
  if (isPaused(result, task)) return PAUSED;
  return hasFailed(result, task) ? 1 : 0;
}

/** A paused prompt is resumed by another command. */
function isPaused({ status }: PromptResult, { report, session }: OneShotOptions): boolean {
  if (status !== "paused") return false;
  const name = session.log.reference ?? session.log.header.id;
  report(`paused: go on with tau -p --session ${name} --resume-interrupted`);
  return true;
}

function hasFailed({ status, error, code }: PromptResult, { report }: OneShotOptions): boolean {
  if (status === "completed" || status === "handled") return false;
  report(`error: ${error ?? status}${hintFor(code)}`);
  return true;
}

/** Waits for the prompt with which the session continues. */
async function resumeLatest(
  { session }: OneShotOptions,
  onResult: (result: PromptResult) => Promise<void>,
): Promise<PromptResult> {
  const promptId = unfinishedPromptId(session.log);
  if (promptId === undefined) throw new Error("there is no prompt to go on with");
  const result = await session.resume(promptId);
  await onResult(result);
  return result;
}

/** Sends the prompts one after another; stops after one that fails. */
async function runPrompts(
  task: OneShotOptions,
  onResult: (result: PromptResult) => Promise<void> = async () => {},
): Promise<PromptResult> {
  const { session, options } = task;
  const outputSchema = await readSchema(options.outputSchema, task.cwd);
  const { text, images, attachments } = await readFiles(options.files, {
    cwd: session.bash.workspaceElsewhere === undefined ? task.cwd : session.log.header.cwd,
    elsewhere: session.bash.workspaceElsewhere,
  });
  const [first = "", ...rest] = options.messages;
  const opening = [task.input, `${text}${first}`].filter((part) => part !== "").join("\n\n");
  const isResumed = options.resumeInterrupted === true && options.messages.length === 0;
  if (isResumed && opening === "") return resumeLatest(task, onResult);
  if (opening === "" && images.length + attachments.length === 0) {
    throw new Error("there is no prompt; pass one as an argument or pipe it in");
  }
  // Only the answer to the last prompt is printed.
  const { verbatim } = options;
  const schemaOf = (index: number) => ({
    verbatim,
    ...(index === rest.length && { outputSchema }),
  });
  try {
    let result: PromptResult = await session.prompt(opening, {
      images,
      attachments,
      ...schemaOf(0),
    });
    await onResult(result);
    for (const [index, message] of rest.entries()) {
      if (/^(?:error|aborted|paused)$/.test(result.status)) break;
      result = await session.prompt(message, schemaOf(index + 1));
      await onResult(result);
    }
    return result;
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "invalid_schema") throw error;
    // The session checks the schema but does not know its file, so the path is added here.
    const path = resolve(task.cwd, options.outputSchema ?? "");
    return refuse("--output-schema", `${path}: ${error.message}`);
  }
}

async function readSchema(
  file: string | undefined,
  cwd: string,
): Promise<OutputSchema | undefined> {
  if (file === undefined) return undefined;
  const path = resolve(cwd, file);
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    return refuse("--output-schema", `${path} cannot be read as JSON: ${systemReason(error)}`);
  }
}
