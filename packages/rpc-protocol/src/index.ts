export { type ErrorCode, errorTable, errorText, ProtocolError } from "./error.ts";
