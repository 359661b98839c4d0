export { errorTable, errorText, ProtocolError } from "./error.ts";
export { DEFAULT_MAX_LINE_BYTES, encodeLine, LineDecoder } from "./jsonl.ts";
export { PartialJson } from "./partial-json.ts";
export { toPlainValue } from "./plain-value.ts";
export { SESSION_VERSION } from "./session-version.ts";
export { thinkingLevels } from "./thinking-levels.ts";
