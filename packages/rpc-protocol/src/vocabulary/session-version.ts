/** The session file format that is written; 1 and 2 are migrated on load. */
export const SESSION_VERSION = 3;
