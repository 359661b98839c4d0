export { attempt } from "./base/attempt.ts";
export { boundedBytes } from "./base/bounded-bytes.ts";
export type { CallbackServer } from "./base/callback-server.ts";
export { listenForCallback } from "./base/callback-server.ts";
export type { OptionCheck, OptionChecks } from "./base/check-options.ts";
export {
  anything,
  callable,
  checkNames,
  checkOptions,
  list,
  object,
  oneOf,
  required,
  text,
  texts,
} from "./base/check-options.ts";
export { commonStart } from "./base/common-start.ts";
export type { Diagnostic } from "./base/diagnostic.ts";
export type { ChangeDetails } from "./base/diff.ts";
export { describeChange, describeChangeNow, diffLines } from "./base/diff.ts";
export type { Listener, SubscribeOptions } from "./base/event-bus.ts";
export { EventBus } from "./base/event-bus.ts";
export type {
  DiagnosedChange,
  FileDiagnosis,
  FileProblem,
  StartedChange,
} from "./base/file-diagnosis.ts";
export { errorCode } from "./base/files/error-code.ts";
export { fileError, lostText, systemCodeOf } from "./base/files/file-error.ts";
export { dropLock, withFileLock } from "./base/files/file-lock.ts";
export { FileQueue } from "./base/files/file-queue.ts";
export { isRecent, stampOf, statOf } from "./base/files/file-stamp.ts";
export { DoorError, FolderDoor } from "./base/files/folder-door.ts";
export { createGlob } from "./base/files/glob.ts";
export type { Matcher } from "./base/files/glob-engine.ts";
export { globFilter } from "./base/files/glob-filter.ts";
export { globMatcher } from "./base/files/glob-matcher.ts";
export { hostPlaceReason, isHostPlace } from "./base/files/host-places.ts";
export type { IgnoreRules } from "./base/files/ignore-rules.ts";
export { readIgnoreRules } from "./base/files/ignore-rules.ts";
export { isInside, isolatedTreeOf, isolatedTreePath } from "./base/files/isolated-tree.ts";
export { keyFileNames } from "./base/files/key-files.ts";
export { lineOf } from "./base/files/line-of.ts";
export { makeFolder, makeFolderNow } from "./base/files/make-folder.ts";
export { openRegularFile } from "./base/files/open-regular-file.ts";
export { keyFileRefusal, keyFileText, ProtectedFiles } from "./base/files/protected-files.ts";
export type { JsonFile } from "./base/files/read-json.ts";
export { parseJsonText, readJsonFile, readJsonIn } from "./base/files/read-json.ts";
export type { TextFile } from "./base/files/read-text.ts";
export { readTextFile, readTextFileNow } from "./base/files/read-text.ts";
export type { WorkspaceFiles } from "./base/files/read-text-in.ts";
export { isOutOfReach, readTextIn } from "./base/files/read-text-in.ts";
export { realPlaceOf } from "./base/files/real-place.ts";
export {
  commandMatcher,
  escapeCommand,
  escapeGlob,
  nameMatcher,
  pathMatcher,
  starMatcher,
} from "./base/files/rule-glob.ts";
export { systemReason } from "./base/files/system-reason.ts";
export { writeFileAtomic } from "./base/files/write-file.ts";
export type { FetchForeign, ForeignReply, WebAccess } from "./base/foreign-request.ts";
export { findHomeDirectory } from "./base/home-directory.ts";
export { isLoopback } from "./base/is-loopback.ts";
export { isRunning } from "./base/is-running.ts";
export { LastKept } from "./base/last-kept.ts";
export { mapSome } from "./base/map-some.ts";
export { isAlive, ownIdentity, type ProcessIdentity } from "./base/process-identity.ts";
export { processStat } from "./base/process-stat.ts";
export { randomHex, randomUuid } from "./base/random.ts";
export { endsWithin, runCheck } from "./base/run-check.ts";
export { SparseMap, SparseSet } from "./base/sparse.ts";
export { parseTemplateArguments, substituteArguments } from "./base/template-arguments.ts";
export { isTimed, MAX_TIMER_MS } from "./base/timer-limit.ts";
export { Turns } from "./base/turns.ts";
export { unlessAborted } from "./base/unless-aborted.ts";
export { VERSION } from "./base/version.ts";
export { whenAborted } from "./base/when-aborted.ts";
export { within } from "./base/within.ts";
export { withoutTrailing } from "./base/without-trailing.ts";
export { escapeXml } from "./base/xml.ts";
export {
  credentialsOfClient,
  credentialsOfFunction,
} from "./host-requests/credentials.ts";
export type { DialogResult } from "./host-requests/dialogs.ts";
export { answerDialog, dialogSink, readDialogResult } from "./host-requests/dialogs.ts";
export { firstSink, functionSink } from "./host-requests/function-sink.ts";
export type {
  Answer,
  ClosedBy,
  ClosedRequest,
  RequestOutcome,
  RequestSink,
} from "./host-requests/host-requests.ts";
export { HostRequests, Withdrawal } from "./host-requests/host-requests.ts";
export { askQuestions } from "./host-requests/questions.ts";
export type { AnswerProblem } from "./host-requests/request-error.ts";
export { RequestError } from "./host-requests/request-error.ts";
export { detectImageType } from "./images/image-type.ts";
export { normalizeBase64 } from "./images/normalize-base64.ts";
export { normalizeImage } from "./images/normalize-image.ts";
export type { Environment } from "./keys/environment-keys.ts";
export { environmentKeys, keyVariableNames } from "./keys/environment-keys.ts";
export { KnownKeys, plainHeaders } from "./keys/known-keys.ts";
export type { KeyMask, KeySources } from "./keys/mask-keys.ts";
export { createKeyMask, createOutputMask } from "./keys/mask-keys.ts";
export type {
  ClientUris,
  CommandOutcome,
  EnclosedFolder,
  LeaveQuestion,
  OwnTexts,
  ToolEnvironment,
} from "./processes/environment.ts";
export { closedPaths } from "./processes/environment.ts";
export { type OutputPlace, openOutput } from "./processes/open-output.ts";
export type { OutputSnapshot } from "./processes/output-buffer.ts";
export { incompleteCharacterBytes, OutputBuffer } from "./processes/output-buffer.ts";
export type { OutputFile } from "./processes/output-file.ts";
export { maskText, OutputMask } from "./processes/output-mask.ts";
export type { OutputSink, OutputStream } from "./processes/output-pump.ts";
export type { ProcessOutcome } from "./processes/process.ts";
export { runProcess } from "./processes/process.ts";
export { environmentChanges, processEnvironment } from "./processes/process-environment.ts";
export { ProcessError, SandboxStartError } from "./processes/process-error.ts";
export { hasProcessGroups } from "./processes/process-group.ts";
export { nobodys } from "./processes/process-owners.ts";
export { ProcessRegistry } from "./processes/process-registry.ts";
export type { Sandbox } from "./processes/sandbox.ts";
export { SandboxRefusal } from "./processes/sandbox-refusal.ts";
export { OutputSanitizer } from "./processes/sanitize-output.ts";
export { ServerProcess } from "./processes/server-process.ts";
export { setUpAgain } from "./processes/set-up-again.ts";
export { SharedPrograms } from "./processes/shared-programs.ts";
export type { ShellCommand } from "./processes/shell-command.ts";
export { commandVariables, runShellCommand } from "./processes/shell-command.ts";
export type { TruncationResult } from "./processes/truncate.ts";
export {
  firstBytes,
  formatSize,
  lastBytes,
  maxOutputBytes,
  maxOutputLines,
  splitLines,
  truncateHead,
  truncateLine,
  truncateTail,
} from "./processes/truncate.ts";
export type { OpenedSandbox, SandboxParts } from "./sandbox/open-sandbox.ts";
export { sandboxRefusal } from "./sandbox/paths/path-rules.ts";
export { allowsHost } from "./sandbox/policy/domain-list.ts";
export {
  type SandboxChange,
  type SandboxPolicy,
  tightenCeiling,
} from "./sandbox/policy/sandbox-settings.ts";
export type { SandboxSecret } from "./sandbox/policy/secret-settings.ts";
export { SessionSandbox } from "./sandbox/session-sandbox.ts";
export type { DiagnosticsEntry, DiagnosticsFormat } from "./settings/diagnostics-entry.ts";
export { isDiagnosticsEntry } from "./settings/diagnostics-entry.ts";
export { readWord } from "./settings/read-word.ts";
export { isSettingKey, settingHelp, settingKeys, settingsTable } from "./settings/schema.ts";
export { isPeriod, MAX_PERIOD_MS } from "./settings/setting.ts";
export type { ResourceEntry, SettingsScope } from "./settings/store.ts";
export { SettingsStore } from "./settings/store.ts";
export { UnreadGuard } from "./settings/unread-guard.ts";
export { readShellLine } from "./shell-lines/read-shell-line.ts";
export type { AnswerSchema } from "./structured-output/answer-schema.ts";
export { readAnswerSchema } from "./structured-output/answer-schema.ts";
export type { OutputResult } from "./structured-output/output-answer.ts";
export { OUTPUT_REMINDER, type OutputAnswer } from "./structured-output/output-answer.ts";
export type { OutputOf, OutputSchema } from "./structured-output/output-schema.ts";
export { ForeignError } from "./web/foreign-error.ts";
export { hostOf } from "./web/host-of.ts";
export type { ServingClients } from "./workspaces/common/carrier-options.ts";
export { searchByListing } from "./workspaces/common/list-search.ts";
export { runScript } from "./workspaces/common/run-script.ts";
export { unlessMissing } from "./workspaces/common/unless-missing.ts";
export { enclosingWorkspace } from "./workspaces/enclosing/enclosing-workspace.ts";
export { LocalFiles } from "./workspaces/local/local-files.ts";
export {
  createLocalWorkspace,
  LocalWorkspace,
  type LocalWorkspaceOptions,
} from "./workspaces/local/local-workspace.ts";
