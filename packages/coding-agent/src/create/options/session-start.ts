import type { SessionStart } from "@tau-agent/sessions/log";

/** Which conversation a session begins with, in the form that clients use, too. */
export type SessionChoice =
  /** A session without a file. */
  | "memory"
  /** The folder's latest session; a new one if there is none. */
  | "continue"
  /** The session in this file. */
  | { readonly path: string; readonly kind?: undefined }
  | SessionStart;

/** The choices given as plain words. */
export const sessionWords = ["memory", "continue"] as const;

export function sessionStartOf(choice: SessionChoice | undefined): SessionStart | undefined {
  if (choice === "memory") return { kind: "memory" };
  if (choice === "continue") return { kind: "latest" };
  if (choice == null || choice.kind !== undefined) return choice;
  return { kind: "file", path: choice.path };
}
