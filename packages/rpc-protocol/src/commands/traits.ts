/**
 * What a command acts on. A host with many sessions needs a `sessionId` for `session`. For `connection`,
 * a `sessionId` narrows the command to what the connection has of that session. `host` is the same
 * whatever session is named.
 */
export type CommandScope = "host" | "connection" | "session";

/** What a host needs to know of a command to run it. */
export interface CommandTraits {
  readonly scope: CommandScope;
  /** `initialized`: `data` is only sent after `initialize`, since the document shows none. */
  readonly data: "always" | "none" | "initialized";
  /**
   * Acts on the session. Sent after a command that changes the session, it means the new one, and
   * waits for it.
   */
  readonly awaitsSessionChange: boolean;
  /** Begins work, so a host that drains refuses it. */
  readonly beginsWork: boolean;
  /** Asks how things are or stops something, so its answer does not wait for the session's store. */
  readonly answersAtOnce: boolean;
}

/** The traits of a command, with defaults for what is not given. */
export function traitsOf({
  scope = "session",
  data = "always",
  awaitsSessionChange = false,
  beginsWork = false,
  answersAtOnce = false,
}: Partial<CommandTraits>): CommandTraits {
  return { scope, data, awaitsSessionChange, beginsWork, answersAtOnce };
}
