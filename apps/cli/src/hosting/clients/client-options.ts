import type { CommandFrame, Dialect } from "@tau-agent/rpc-protocol";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { SessionPool } from "../sessions/session-pool.ts";
import type { IsolatedLines, IsolatedLinesOptions } from "./isolated-lines.ts";

export interface ClientSetup {
  readonly pool: SessionPool;
  /** The client's dialect until it requests another. */
  readonly dialect: Dialect;
  /** Connects to sessions in their own processes; undefined if there are none. */
  readonly isolatedLines?: ((options: IsolatedLinesOptions) => IsolatedLines) | undefined;
  readonly onInternalError: (error: unknown) => void;
  /** Called with the name of each command and, if it is not answered yet, a promise that settles with the answer. */
  readonly onCommand?: ((name: string, done?: Promise<unknown>) => void) | undefined;
}

export interface ClientOptions extends ClientSetup {
  readonly writer: LineWriter;
  /** The client sends a single command and receives nothing but the answer. */
  readonly isOneShot?: boolean;
  readonly before?: (frame: CommandFrame) => Promise<void> | undefined;
  /** Whether the host is shutting down and starts no new work. */
  readonly isEnding?: () => boolean;
}
