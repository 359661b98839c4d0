export { answerLeftCalls } from "./log/answer-open-calls.ts";
export { entriesForContext, resumedModel, StoredMessages } from "./log/branch-context.ts";
export { buildTree, labelsOf } from "./log/build-tree.ts";
export type { ClearedResult, ResultView, ShownAsLine } from "./log/cleared-results.ts";
export {
  CLEARED_ENTRY,
  clearedResultsEntry,
  clearedResultsOf,
  hasClearedResults,
  savedBy,
  shownAsLine,
} from "./log/cleared-results.ts";
export type { Consumption } from "./log/consumption.ts";
export {
  consumptionOf,
  minus,
  nothingUsed,
  plus,
  SubagentMeter,
  usedBy,
} from "./log/consumption.ts";
export { Conversation } from "./log/conversation.ts";
export { mendMembers, no, optional, rulesOf } from "./log/entries/mend.ts";
export { migrateEntries } from "./log/entries/migrate.ts";
export { normalizeMessage, usage } from "./log/entries/normalize-message.ts";
export type { EnvironmentFacts } from "./log/environment-note.ts";
export { ENVIRONMENT_ENTRY, noteOf } from "./log/environment-note.ts";
export { failedAttempt } from "./log/failed-attempt.ts";
export { fallbackEntry } from "./log/fallback-note.ts";
export { sessionDirectoryFor, sessionFileName } from "./log/file/session-path.ts";
export { FileHome } from "./log/file-home.ts";
export { hostNotes, SETUP_ENTRY } from "./log/host-notes.ts";
export { lastCalls } from "./log/last-calls.ts";
export type { SessionInfo } from "./log/list-sessions.ts";
export { listAllSessions, sessionsIn } from "./log/list-sessions.ts";
export { loadedTools, loadedToolsEntry } from "./log/loaded-tools.ts";
export { noteModel } from "./log/note-model.ts";
export { openQuestions } from "./log/open-questions.ts";
export { openSession } from "./log/open-session.ts";
export {
  conversationOf,
  readConversation,
  type WrittenConversation,
} from "./log/read-conversation.ts";
export { createReminder, reminderDetails } from "./log/reminder.ts";
export type { SavedSessionsOptions } from "./log/saved-sessions.ts";
export {
  deleteSession,
  findSavedSession,
  listSessionPage,
  listSessions,
} from "./log/saved-sessions.ts";
export type { ResumedModel } from "./log/session-context.ts";
export { buildSessionContext, contextEntries, messageOf } from "./log/session-context.ts";
export type {
  NewSession,
  OpenOptions,
  ReadLog,
  SessionHome,
  SessionStart,
  SubagentName,
} from "./log/session-home.ts";
export type { NewEntry } from "./log/session-log.ts";
export { loadReader, SessionLog } from "./log/session-log.ts";
export type { SessionLogView } from "./log/session-log-view.ts";
export type { SessionProject } from "./log/session-project.ts";
export { SessionTotals, USAGE_ENTRY, WARMING } from "./log/session-totals.ts";
export type { RoleFilter } from "./log/session-tree.ts";
export { SessionTree } from "./log/session-tree.ts";
export { SUBAGENT_ENTRY } from "./log/store/named-files.ts";
export type { SessionPart } from "./log/store/session-part.ts";
export {
  QUESTION_ANSWERED,
  QUESTION_ASKED,
  type StoredAnswer,
  storedQuestions,
} from "./log/stored-questions.ts";
export type { UserText } from "./log/user-texts.ts";
export { UserTexts, userMessageOf, userText } from "./log/user-texts.ts";
export type { LogParts } from "./log/writers/log-writer.ts";
export { TODO_EDIT_TYPE, todosOf } from "./todos/branch-todos.ts";
export { bendTodo, isOpen, phasesOf, readPhases, readTodos } from "./todos/read-todos.ts";
