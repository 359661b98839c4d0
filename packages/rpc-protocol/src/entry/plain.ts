// The exports that need no schema, for modules that are loaded at the start.

export { titleOfCall } from "../dialects/approval-title.ts";
export {
  QuestionDialogs,
  type QuestionHostRequest,
  requestOfDialog,
} from "../dialects/question-dialogs.ts";
export { asDialog, resultOfDialog } from "../dialects/request-dialogs.ts";
export { type Deciders, deciderOf } from "../vocabulary/asked-request.ts";
export {
  durabilities,
  type ExportFormat,
  exportExtensions,
  type HostRequestMethod,
  hostRequestMethods,
  isThinkingLevel,
  isWork,
  permissionModes,
  ruleActions,
  type SandboxMode,
  SESSION_VERSION,
  sandboxModes,
  thinkingLevels,
  type WorkMethod,
  workMethods,
} from "../vocabulary/constants.ts";
export {
  CodedError,
  errorTable,
  errorText,
  type ModelErrorCode,
  modelErrorTable,
  ProtocolError,
  SessionError,
} from "../vocabulary/error.ts";
export {
  isJsonObject,
  type JsonObject,
  parseJson,
  parseObject,
} from "../vocabulary/json-object.ts";
export { nearest, nearestHint } from "../vocabulary/nearest.ts";
export {
  CONTINUE_TYPE,
  contentText,
  lastReplyParts,
  lastReplyText,
} from "../vocabulary/prompt-result.ts";
export { errorMessage, remedyOfLimit } from "../vocabulary/system-limit.ts";
export {
  checkValue,
  isTypedSchema,
  jsonSchemaOf,
  type TypedSchema,
  type ValueOf,
} from "../vocabulary/typed-schema.ts";
export { DEFAULT_MAX_LINE_BYTES, encodeLine, LineDecoder } from "../wire/jsonl.ts";
export { PartialJson } from "../wire/partial-json.ts";
export { toPlainValue } from "../wire/plain-value.ts";
