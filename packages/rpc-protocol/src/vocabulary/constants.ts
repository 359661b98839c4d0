/**
 * What a host needs at its start and a schema needs, too. These values are apart from the schemas
 * because importing one from beside a schema would build the schema, and a start should build none
 * (docs/decisions/0008-fast-start.md). For the same reason `entry/plain.ts` exports what needs no
 * schema, and each other entry only the schemas of its subject.
 */

/** Thinking levels from none to most. A level of a later model is added at its place. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The session file format that is written; versions 1 and 2 are migrated on load. */
export const SESSION_VERSION = 3;
