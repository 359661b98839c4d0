/**
 * The conformance kit: transcripts of the protocol as data, and the code that plays them against a host. The CLI
 * bundles the kit and loads it only for `tau conformance`; the host's tests use parts of it.
 */
export { conformance } from "./command/command.ts";
export { defaultApi, runConformance } from "./command/run-conformance.ts";
export { documentedProblem } from "./frames/documented.ts";
export { FrameQueue } from "./frames/frame-queue.ts";
export { mismatch, type Pattern } from "./frames/pattern.ts";
export { HostProcess } from "./hosts/host-process.ts";
export { makePlace, type Place } from "./hosts/place.ts";
export { spawnHost } from "./hosts/spawned-host.ts";
export { dataFolder } from "./transcripts/data-folder.ts";
export { playTranscript, type TestHost } from "./transcripts/play-transcript.ts";
export { requirements } from "./transcripts/requirements.ts";
export { readTranscripts, type TranscriptSetup } from "./transcripts/transcript.ts";
