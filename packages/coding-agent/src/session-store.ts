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
 * Stores for conversations, and the checks that a store of your own has to pass.
 *
 * @packageDocumentation
 */
