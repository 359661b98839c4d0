export type {
  ConformanceReport,
  ConformanceResult,
  FileSessionStoreOptions,
  LeaseToken,
  SessionKey,
  SessionStore,
  SessionStoreErrorCode,
  StoredBlob,
  StoredSession,
  StoreEntry,
  StoreLease,
} from "@tau-agent/sessions";
export {
  FileSessionStore,
  MemorySessionStore,
  runStoreConformance,
  SessionStoreError,
} from "@tau-agent/sessions";
/**
 * Stores for conversations, and the conformance checks for custom stores.
 *
 * @packageDocumentation
 */
