/**
 * The variable that every child inherits with what it starts itself: one word for each host and
 * session above it, so that a process which left its group is still known as theirs. With nothing in
 * it, a process and what it starts are nobody's.
 */
export const ownersVariable = "TAU_PROCESS_OWNERS";

/** For a process that is meant to outlive its starter. */
export const nobodys: Readonly<Record<string, string>> = { [ownersVariable]: "" };
