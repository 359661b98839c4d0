import {
  ConnectionClosedError,
  FrameTooLargeError,
  RequestTimeoutError,
  RpcError,
} from "./errors.ts";

/** The stack of a caller, kept until an error needs it. */
interface CallSite {
  readonly stack?: string;
}

const ownErrors = [ConnectionClosedError, FrameTooLargeError, RequestTimeoutError, RpcError];

/**
 * Awaits work on behalf of a caller. Errors of this package are created where an answer is read, where the
 * stack is meaningless, so they get the stack of the caller.
 *
 * @param method - the method that the caller called; its own frames are omitted
 */
export async function fromCaller<Value>(
  method: (...values: never[]) => unknown,
  work: () => Promise<Value>,
): Promise<Value> {
  const site: CallSite = {};
  // Not every browser has it.
  Error.captureStackTrace?.(site, method);
  try {
    return await work();
  } catch (error) {
    throw seenFrom(site, error);
  }
}

function seenFrom({ stack = "" }: CallSite, error: unknown): unknown {
  if (!ownErrors.some((type) => error instanceof type)) return error;
  // Several callers may wait for the end of one connection.
  const own = error instanceof ConnectionClosedError ? error.again() : (error as Error);
  const lines = stack.slice(stack.indexOf("\n") + 1);
  own.stack = `${own.name}: ${own.message}\n${lines}`;
  return own;
}
