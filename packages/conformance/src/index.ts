/**
 * The conformance kit: transcripts of the protocol as data, and what plays them against a host. The
 * CLI bundles it and loads it for `tau conformance` alone; tests of the host use its parts.
 */
export { conformance } from "./command.ts";
export { dataFolder } from "./data-folder.ts";
export { documentedProblem } from "./documented.ts";
export { FrameQueue } from "./frame-queue.ts";
export { HostProcess } from "./host-process.ts";
export { mismatch, type Pattern } from "./pattern.ts";
export { makePlace, type Place } from "./place.ts";
export { playTranscript, type TestHost } from "./play-transcript.ts";
export { requirements } from "./requirements.ts";
export { defaultApi, runConformance } from "./run-conformance.ts";
export { spawnHost } from "./spawned-host.ts";
export { readTranscripts, type TranscriptSetup } from "./transcript.ts";
