import { ConnectionClosedError, type ConnectionCode } from "../base/errors.ts";

export interface Wire {
  /** Sends a line, which ends in a line feed. */
  write(line: string): void;
  close(): void;
}

export interface WireOptions {
  readonly timeoutMs: number;
  readonly onLine: (line: string) => void;
  /** Called once, when an open wire has closed. */
  readonly onClose: (reason: string) => void;
}

/**
 * Opens a connection to a host.
 *
 * @throws {ConnectionClosedError}
 */
export type OpenWire = (options: WireOptions) => Promise<Wire>;

/** A time limit for connecting. */
export function deadline(url: string, timeoutMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<Wire>();
  const fail = (code: ConnectionCode, reason: string): void => {
    clearTimeout(timer);
    const text = `Could not connect to ${url}: ${reason}`;
    reject(new ConnectionClosedError(text, {}, { code }));
  };
  const late = () => fail("connect_timeout", `no connection within ${timeoutMs} ms`);
  const timer = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined;
  const succeed = (wire: Wire): void => {
    clearTimeout(timer);
    resolve(wire);
  };
  return { promise, resolve: succeed, reject: fail };
}
