/**
 * The parts of session files that are rarely needed.
 *
 * @packageDocumentation
 */
export { migrateEntries } from "./log/entries/migrate.ts";
export { readSessionFile } from "./log/file/read-session-file.ts";
export { sessionPathOf } from "./log/file-home.ts";
export { readHeader } from "./log/list-sessions.ts";
export { readLoggedFile } from "./log/read-logged-file.ts";
export { SessionLog } from "./log/session-log.ts";
export { describePast } from "./log/session-past.ts";
export { fileNameOf, readSubagentFile, subagentFolders } from "./log/subagent-sessions.ts";
