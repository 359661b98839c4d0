/**
 * Sessions in a store, for hosts that use one.
 *
 * @packageDocumentation
 */
export { SessionFiles } from "./log/store/session-files.ts";
export { StoredSessions } from "./log/stored-sessions.ts";
export { processOwner } from "./stores/file/process-owner.ts";
export { openStore } from "./stores/open/open-store.ts";
