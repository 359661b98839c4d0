// What needs no schema: for modules that a start loads.

export { SESSION_VERSION, thinkingLevels } from "../vocabulary/constants.ts";
export { CodedError, errorTable, errorText, ProtocolError } from "../vocabulary/error.ts";
export { CONTINUE_TYPE, lastReplyParts, lastReplyText } from "../vocabulary/prompt-result.ts";
export { DEFAULT_MAX_LINE_BYTES, encodeLine, LineDecoder } from "../wire/jsonl.ts";
export { PartialJson } from "../wire/partial-json.ts";
export { toPlainValue } from "../wire/plain-value.ts";
