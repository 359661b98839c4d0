/** The author of a message. Failed replies have a separate role, because they must be read before they count. */
export const scannedRoles = ["user", "assistant", "toolResult", "failedAssistant"] as const;
export type ScannedRole = (typeof scannedRoles)[number];

/** Indices into {@link scannedRoles}. */
export const [ASSISTANT, FAILED] = [1, 3];
