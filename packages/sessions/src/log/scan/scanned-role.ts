/** Who said a message; the failed replies need a look before they count. */
export const scannedRoles = ["user", "assistant", "toolResult", "failedAssistant"] as const;
export type ScannedRole = (typeof scannedRoles)[number];

/** Indices of {@link scannedRoles}. */
export const [ASSISTANT, FAILED] = [1, 3];
