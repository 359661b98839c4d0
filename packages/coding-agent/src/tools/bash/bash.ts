import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import {
  type CommandOutcome,
  commandVariables,
  isTimed,
  lostText,
  OutputBuffer,
  type OutputFile,
  type OutputMask,
  type OutputSink,
  type OutputSnapshot,
  openOutput,
  ProcessError,
  SandboxRefusal,
  type ToolEnvironment,
} from "@tau-agent/system";
import type { OfferedTools } from "../../jobs/session-jobs.ts";
import { type JobEnvironment, jobsOf } from "../common/jobs-of.ts";
import { bashDetails, outputText } from "./output-text.ts";
import { runToolCommand } from "./tool-command.ts";

const updateIntervalMs = 100;
/** The longest delay of a timer. */
const maxTimeoutSeconds = 2_147_483;

interface BashArguments {
  readonly command: string;
  /** In seconds. */
  readonly timeout?: number | undefined;
  /** Runs the command as a job. */
  readonly background?: boolean | undefined;
  /** Tells the model when the job ends. */
  readonly notify?: boolean | undefined;
  /** Lets the job outlive the agent. */
  readonly detached?: boolean | undefined;
}

/** Runs a shell command and returns the end of its output, or starts it as a job. */
export async function runBashTool(
  args: BashArguments,
  environment: ToolEnvironment & JobEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const traceparent = environment.traceparentOf?.(call.toolCallId);
  if (args.background) return startJob(args, environment, traceparent);
  if (args.notify || args.detached) {
    throw new ToolError("notify and detached are for jobs: set background too, or leave them out.");
  }
  const { bashTimeoutMs } = environment;
  const mask = environment.createOutputMask?.();
  const timeoutMs = timeoutOf(args.timeout) ?? (isTimed(bashTimeoutMs) ? bashTimeoutMs : undefined);
  const timeout = timeoutMs === undefined ? undefined : timeoutMs / 1000;
  const run = (onOutput: OutputSink) =>
    runToolCommand(environment, {
      command: args.command,
      toolCallId: call.toolCallId,
      signal: call.signal,
      timeoutMs,
      sessionVariables: commandVariables(environment, traceparent),
      onOutput,
    });
  const mayAskForMore = args.timeout === undefined;
  const { onUpdate } = call;
  const sandboxNotice = environment.sandbox?.failureNotice;
  return followCommand(run, {
    open: () => openOutput(environment),
    ...{ mask, timeout, mayAskForMore, sandboxNotice, onUpdate },
  });
}

async function startJob(
  { command, timeout, notify, detached }: BashArguments,
  environment: JobEnvironment,
  traceparent: string | undefined,
): Promise<ToolResult> {
  const jobs = jobsOf(environment);
  const timeoutMs = timeoutOf(timeout);
  try {
    const commandId = environment.kept?.commandId();
    const request = { command, timeoutMs, notify, detached, traceparent, commandId };
    const jobId = await jobs.start(request);
    const text = `Started in the background as ${jobId}.${toolsText(jobs.offerTools())}`;
    return { content: [{ type: "text", text }], details: { jobId } };
  } catch (error) {
    throw toolErrorOf(error);
  }
}

/** How to follow a job: the tools for that are not declared before the first job. */
function toolsText({ names, areCalledByName }: OfferedTools): string {
  const calls = names.map((name) => (name === "list_jobs" ? `${name} {}` : `${name} {jobId}`));
  if (calls.length === 0) return "";
  return areCalledByName
    ? ` Follow it by call_tool with ${calls.join(", ")}.`
    : ` Follow it with ${names.join(", ")}.`;
}

/** Turns an error that prevented a command from starting or finishing into a tool error; other errors pass. */
function toolErrorOf(error: unknown): unknown {
  const options = { cause: error };
  if (isWorkspaceError(error, "lost")) {
    return new ToolError(`Command ended: ${lostText(error)}`, undefined, options);
  }
  if (isWorkspaceError(error)) return new ToolError(error.message, undefined, options);
  if (!(error instanceof ProcessError)) return error;
  if (error.code === "sandbox_unavailable") {
    return new SandboxRefusal(error.code, error.message, undefined, options);
  }
  return new ToolError(error.message, undefined, options);
}

/** What {@link followCommand} needs in addition to the command. */
export interface FollowOptions {
  /** Opens the file for output that is too long to show. */
  readonly open: () => OutputFile;
  /** Masks keys in the output. */
  readonly mask?: OutputMask | undefined;
  /** In seconds, for the text about a timeout. */
  readonly timeout: number | undefined;
  /** Whether the timeout is the default, so that a longer one may be requested. */
  readonly mayAskForMore?: boolean;
  /** The text about the sandbox if the command fails. */
  readonly sandboxNotice?: string | undefined;
  readonly onUpdate: (partial: ToolResult) => void;
}

/**
 * Reports the end of a command's output, both while it runs and as its result.
 *
 * @throws {ToolError} if the command failed
 */
export async function followCommand(
  run: (onOutput: OutputSink) => Promise<CommandOutcome>,
  options: FollowOptions,
): Promise<ToolResult> {
  const { open, mask, timeout, mayAskForMore = false, onUpdate } = options;
  const output = new OutputBuffer(open, { mask, folds: true });
  const updates = new ThrottledUpdates(() => onUpdate(partialOf(output.snapshot())));
  try {
    const outcome = await run((chunk, stream) => {
      const pending = output.append(chunk, stream);
      updates.request();
      return pending;
    });
    updates.stop();
    const failure = failureText(outcome, timeout, mayAskForMore);
    return finalResult(outcome, await output.finish(), { failure, ...options });
  } catch (error) {
    throw toolErrorOf(error);
  } finally {
    updates.stop();
  }
}

function timeoutOf(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (seconds > 0 && seconds <= maxTimeoutSeconds) return Math.max(1, seconds * 1000);
  throw new ToolError(
    `Invalid timeout ${seconds}: give seconds above 0 and up to ${maxTimeoutSeconds}, or leave it out.`,
  );
}

/** Updates during a command have both members of the details, as documented. */
function partialOf(snapshot: OutputSnapshot): ToolResult {
  const none = { truncation: null, fullOutputPath: null };
  return { ...resultOf(snapshot), details: { ...none, ...bashDetails(snapshot) } };
}

function resultOf(snapshot: OutputSnapshot): ToolResult {
  const details = bashDetails(snapshot);
  return {
    content: [{ type: "text", text: outputText(snapshot) }],
    ...(details !== undefined && { details }),
  };
}

function finalResult(
  outcome: CommandOutcome,
  snapshot: OutputSnapshot,
  { failure, sandboxNotice }: { failure: string } & Pick<FollowOptions, "sandboxNotice">,
): ToolResult {
  if (outcome.kind === "exited" && outcome.exitCode === 0) return resultOf(snapshot);
  const hasOutput = snapshot.truncation.content !== "";
  const before = hasOutput ? `${outputText(snapshot).replace(/\n$/, "")}\n\n` : "";
  const details = bashDetails(snapshot);
  if (sandboxNotice === undefined) throw new ToolError(before + failure, details);
  const text = `${before}${failure}\n${sandboxNotice}`;
  if (!isRefused(outcome, before)) throw new ToolError(text, details);
  throw new SandboxRefusal("sandbox_refused", text, details);
}

/** Whether a failure looks like a refusal by the sandbox: there is no other indication. */
function isRefused({ kind }: CommandOutcome, output: string): boolean {
  const signs =
    /Read-only file system|Permission denied|Operation not permitted|Device or resource busy|EROFS|EACCES|EPERM|Network is unreachable|ENETUNREACH|EAI_AGAIN|name resolution|resolve host|getaddrinfo|403 Forbidden/i;
  return kind === "exited" && signs.test(output);
}

function failureText(
  outcome: CommandOutcome,
  timeout: number | undefined,
  mayAskForMore: boolean,
): string {
  switch (outcome.kind) {
    case "exited":
      return `Command exited with code ${outcome.exitCode}`;
    case "signalled":
      return `Command was killed by signal ${outcome.signal}`;
    case "timed_out":
      if (timeout === undefined) return "Command timed out";
      return `Command timed out after ${timeout} seconds${mayAskForMore ? ". Give timeout to allow more." : ""}`;
    case "aborted":
      return "Command aborted";
    case "unknown":
      return "Command ended without an exit code";
  }
}

/** Sends the first update at once and later ones at most every 100 ms. */
class ThrottledUpdates {
  readonly #send: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isWanted = false;
  #isStopped = false;

  constructor(send: () => void) {
    this.#send = send;
  }

  request(): void {
    if (this.#isStopped) return;
    if (this.#timer !== undefined) {
      this.#isWanted = true;
      return;
    }
    this.#isWanted = false;
    this.#send();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isWanted) this.request();
    }, updateIntervalMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
