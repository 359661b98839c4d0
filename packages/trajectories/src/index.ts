export { atifPieces } from "./atif/atif-trajectory.ts";
export { markdownPieces } from "./markdown/markdown.ts";
export type { SubagentSource, TrajectorySource } from "./trajectory-source.ts";
