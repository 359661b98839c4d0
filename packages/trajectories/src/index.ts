export { atifPieces } from "./atif/atif-trajectory.ts";
export {
  type ImportedSession,
  type ImportRequest,
  importTranscript,
} from "./imports/import-transcript.ts";
export { markdownPieces } from "./markdown/markdown.ts";
export type { SubagentSource, TrajectorySource } from "./trajectory-source.ts";
