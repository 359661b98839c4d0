/**
 * Stores for conversations, and the checks that a store of your own has to pass.
 *
 * @packageDocumentation
 */
export {
  type ConformanceReport,
  type ConformanceResult,
  FileSessionStore,
  type FileSessionStoreOptions,
  type LeaseToken,
  MemorySessionStore,
  runStoreConformance,
  type SessionKey,
  type SessionStore,
  SessionStoreError,
  type SessionStoreErrorCode,
  type StoredBlob,
  type StoredSession,
  type StoreEntry,
  type StoreLease,
} from "@tau-agent/sessions";
