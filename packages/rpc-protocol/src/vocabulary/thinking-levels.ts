/** Thinking levels from none to most. A level a later model brings is added at its place. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
