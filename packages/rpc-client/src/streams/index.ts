/**
 * The events of a session as streams for AI SDK and AG-UI. Nothing here needs Node.
 *
 * @packageDocumentation
 */

export { type AgUiEvent, type AgUiNames, agUiEncoder, toAgUi } from "./ag-ui.ts";
export { type RunEncoder, runPartEncoder } from "./run-encoder.ts";
export type {
  BlockKind,
  RunEnd,
  RunPart,
  RunPlace,
  ShownRequest,
  StreamEvent,
} from "./run-part.ts";
export { toUiMessageStream, type UiMessageChunk, uiMessageEncoder } from "./ui-message-stream.ts";
