import type { AgentSession } from "@tau-agent/coding-agent";
import type { Dialect } from "@tau-agent/rpc-protocol";
import type { FrameOutput } from "../../process/output.ts";
import type { Shutdown } from "../../process/shutdown.ts";
import type { SessionDefaults } from "./open-session.ts";
import type { SessionSeams } from "./session-pool.ts";

/** What a host with several sessions or connections is made from. */
export interface HostingContext extends SessionDefaults {
  readonly dialect: Dialect;
  readonly output: FrameOutput;
  readonly input: NodeJS.ReadableStream;
  readonly shutdown: Shutdown;
  /** The command line, word by word. */
  readonly words: readonly string[];
  /** Opens the session that the command line asks for. */
  readonly openOnly: (seams: SessionSeams) => Promise<AgentSession>;
}
