/**
 * Stores for conversations, and the checks that a store of your own has to pass.
 *
 * @packageDocumentation
 */

export { Turns } from "@tau-agent/system";
export {
  type LeaseToken,
  type SessionKey,
  type SessionStore,
  SessionStoreError,
  type SessionStoreErrorCode,
  type StoredBlob,
  type StoredSession,
  type StoreEntry,
  type StoreLease,
} from "./log/store/session-store.ts";
export { blobId } from "./stores/common/blob-id.ts";
export { checkName, checkTtl } from "./stores/common/keys.ts";
export { readStoreUrl } from "./stores/common/store-url.ts";
export type { ConformanceReport, ConformanceResult } from "./stores/conformance/run-checks.ts";
export { runStoreConformance } from "./stores/conformance/run-store-conformance.ts";
export {
  FileSessionStore,
  type FileSessionStoreOptions,
} from "./stores/file/file-session-store.ts";
export { MemorySessionStore } from "./stores/memory/memory-session-store.ts";
