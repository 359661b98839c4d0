/**
 * The variable that all children and their children inherit: one word per host and session above
 * them, which identifies processes that left their group. If it is empty, a process and its
 * children belong to no host.
 */
export const ownersVariable = "TAU_PROCESS_OWNERS";

/** The environment of a process that must outlive its host. */
export const nobodys: Readonly<Record<string, string>> = { [ownersVariable]: "" };
