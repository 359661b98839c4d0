/**
 * What a command acts on. In a host with many sessions, `session` requires a `sessionId`. For `connection`, a
 * `sessionId` limits the command to that session's part of the connection. `host` is independent of the session.
 */
export type CommandScope = "host" | "connection" | "session";

/** What a host needs to know about a command to run it. */
export interface CommandTraits {
  readonly scope: CommandScope;
  /** `initialized`: `data` is only sent after `initialize`, because the document shows none. */
  readonly data: "always" | "none" | "initialized";
  /**
   * Acts on the session. If it is sent after a command that changes the session, it refers to the new session
   * and waits for it.
   */
  readonly awaitsSessionChange: boolean;
  /** Begins work, so a draining host refuses it. */
  readonly beginsWork: boolean;
  /** Queries the state or stops something, so its answer does not wait for the session's store. */
  readonly answersAtOnce: boolean;
}

/** The traits of a command, with defaults for omitted ones. */
export function traitsOf({
  scope = "session",
  data = "always",
  awaitsSessionChange = false,
  beginsWork = false,
  answersAtOnce = false,
}: Partial<CommandTraits>): CommandTraits {
  return { scope, data, awaitsSessionChange, beginsWork, answersAtOnce };
}
