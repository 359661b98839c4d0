/**
 * The variable that all descendants inherit: one word for each host and session above them. It identifies processes
 * that have left their group. If it is empty, a process and its children belong to no host.
 */
export const ownersVariable = "TAU_PROCESS_OWNERS";

/** The environment of a process that must outlive its host. */
export const nobodys: Readonly<Record<string, string>> = { [ownersVariable]: "" };
