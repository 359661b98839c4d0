import type { ErrorCode, RequestId } from "@tau-agent/rpc-protocol";
import type { PromptResult } from "@tau-agent/rpc-protocol/messages";

/** The host answered a command with an error, or an accepted prompt failed. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** What went wrong; absent if the host sends no codes. */
  readonly code: ErrorCode | "prompt_failed" | (string & {}) | undefined;
  /** With `prompt_failed`: the code of the prompt's result, such as `auth` or `overloaded`. */
  readonly promptCode: PromptResult["code"];
  /** The command that failed. */
  readonly command: string;
  /** The id that this client had given the request. */
  readonly requestId: RequestId | undefined;
  constructor(
    text: string,
    details: {
      code?: string | undefined;
      promptCode?: string | undefined;
      command: string;
      requestId?: RequestId | undefined;
    },
  ) {
    super(text);
    this.code = details.code;
    this.promptCode = details.promptCode;
    this.command = details.command;
    this.requestId = details.requestId;
  }
}

/** How the host's process ended, with the last lines it wrote. */
export interface HostExit {
  /** Absent if a signal ended the process, or if it never started. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** The last part of the host's stderr. */
  readonly stderr: string;
}

/** Why there is no connection, as a code. */
export type ConnectionCode =
  /** Nothing answers at the address. */
  | "unreachable"
  /** No connection within the time limit. */
  | "connect_timeout"
  /** The host does not accept the token. */
  | "unauthorized"
  /** There is no token to send. */
  | "no_token"
  /** The server does not accept clients, or not this one. */
  | "refused"
  /** There was a connection or a host, and it has ended. */
  | "closed";

/** The connection to the host is closed. Everything that waits for a response is rejected with this error. */
export class ConnectionClosedError extends Error implements HostExit {
  override readonly name = "ConnectionClosedError";
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stderr: string;
  readonly code: ConnectionCode;
  readonly #reason: string;
  constructor(
    reason: string,
    exit: Partial<HostExit> = {},
    { code = "closed", ...options }: ErrorOptions & { readonly code?: ConnectionCode } = {},
  ) {
    const lastWords = exit.stderr?.trim();
    super(lastWords ? `${reason}\n${lastWords}` : reason, options);
    this.#reason = reason;
    this.code = code;
    this.exitCode = exit.exitCode;
    this.signal = exit.signal;
    this.stderr = exit.stderr ?? "";
  }

  /** A copy for another caller, because an error has the stack of only one place. */
  again(): ConnectionClosedError {
    const { code, cause } = this;
    return new ConnectionClosedError(this.#reason, this, { code, ...(cause ? { cause } : {}) });
  }
}

/** The host did not answer in time. The command may still take effect; a late response is ignored. */
export class RequestTimeoutError extends Error {
  override readonly name = "RequestTimeoutError";
  /** The wire name of the command, or a description of the wait. */
  readonly command: string;
  readonly timeoutMs: number;
  constructor(command: string, timeoutMs: number) {
    super(`No answer to ${command} within ${timeoutMs} ms`);
    this.command = command;
    this.timeoutMs = timeoutMs;
  }
}

/** A command was longer than the host accepts, or its response longer than this client does. */
export class FrameTooLargeError extends Error {
  override readonly name = "FrameTooLargeError";
  /** The command that was not sent, or whose response was skipped. */
  readonly command: string;
  readonly sizeBytes: number;
  readonly limitBytes: number;
  constructor(what: "command" | "answer", command: string, sizeBytes: number, limitBytes: number) {
    const subject = what === "command" ? `The command ${command}` : `The answer to ${command}`;
    super(`${subject} has ${sizeBytes} bytes; the limit is ${limitBytes}`);
    this.command = command;
    this.sizeBytes = sizeBytes;
    this.limitBytes = limitBytes;
  }
}

/** An `events()` iterator was read too slowly and ended, instead of buffering without bound. */
export class EventOverflowError extends Error {
  override readonly name = "EventOverflowError";
  readonly maxBuffered: number;
  constructor(maxBuffered: number) {
    super(`More than ${maxBuffered} events are waiting to be read from this iterator`);
    this.maxBuffered = maxBuffered;
  }
}
