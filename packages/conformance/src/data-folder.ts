/**
 * The folder of the transcripts and what they need; it stands beside the program's package.json, for
 * whoever wants the data alone.
 */
export const dataFolder = new URL(
  "conformance/",
  import.meta.resolve("@tau-agent/cli/package.json"),
);
