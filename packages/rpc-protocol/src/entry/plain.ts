export { errorTable, errorText, ProtocolError } from "../vocabulary/error.ts";
export { SESSION_VERSION } from "../vocabulary/session-version.ts";
export { thinkingLevels } from "../vocabulary/thinking-levels.ts";
export { DEFAULT_MAX_LINE_BYTES, encodeLine, LineDecoder } from "../wire/jsonl.ts";
export { PartialJson } from "../wire/partial-json.ts";
export { toPlainValue } from "../wire/plain-value.ts";
