import type { CommandFrame, Dialect } from "@tau-agent/rpc-protocol";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { SessionPool } from "../sessions/session-pool.ts";
import type { IsolatedLines, IsolatedLinesOptions } from "./isolated-lines.ts";

export interface ClientSetup {
  readonly pool: SessionPool;
  /** What a client speaks until it asks for another. */
  readonly dialect: Dialect;
  /** The way to sessions in processes of their own, where there are such. */
  readonly isolatedLines?: ((options: IsolatedLinesOptions) => IsolatedLines) | undefined;
  readonly onInternalError: (error: unknown) => void;
  /** Called with the name of each command, and what settles once it is answered if it is not yet. */
  readonly onCommand?: ((name: string, done?: Promise<unknown>) => void) | undefined;
}

export interface ClientOptions extends ClientSetup {
  readonly writer: LineWriter;
  /** A single command: it is answered, and nothing else is sent. */
  readonly isOneShot?: boolean;
  readonly before?: (frame: CommandFrame) => Promise<void> | undefined;
  /** Whether the host ends, and begins nothing any more. */
  readonly isEnding?: () => boolean;
}
