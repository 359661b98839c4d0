import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";

/** The source of a trajectory: the current branch of a session, and access to its subagents. */
export interface TrajectorySource {
  readonly header: SessionHeader;
  /** The current branch, oldest first. */
  readonly branch: readonly SessionEntry[];
  /** How many entries are on other branches. */
  readonly otherEntries: number;
  readonly name?: string | undefined;
  /** The cost of the session, including what no step of the branch accounts for. */
  readonly costUsd?: number | undefined;
  readonly systemPrompt?: string | undefined;
  readonly tools?: readonly ToolDeclaration[] | undefined;
  /** Reads the session of a subagent; undefined if it does not exist. */
  readonly readSubagent?: (named: SubagentName) => Promise<SubagentSource | undefined>;
}

interface ToolDeclaration {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: unknown;
}

/** How the result of a call names a subagent's session. */
interface SubagentName {
  readonly sessionFile?: string | undefined;
  readonly storedSession?: string | undefined;
}

export interface SubagentSource extends TrajectorySource {
  /** Identifies the session, however it is named. */
  readonly place: string;
}
