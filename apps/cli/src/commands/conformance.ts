import type { Subcommand } from "../command-line/subcommand.ts";

/** `tau conformance`; the kit reads its own command line. */
export const conformance: Subcommand = {
  name: "conformance",
  summary: "Play the protocol's transcripts against any host",
  usage: ["[options] -- <host and its arguments>", "--list [--filter <text>]", "--play <text>"],
  options: {
    dialect: { kind: "value", value: "names", help: "Dialects to try, comma-separated" },
    filter: { kind: "value", value: "text", help: "Only what has the text in its name" },
    strict: { kind: "switch", help: "Further members and events are deviations, too" },
    api: { kind: "value", value: "name", help: "Wire format of the scripted model" },
    "timeout-ms": { kind: "value", value: "n", help: "How long a frame is waited for" },
    play: { kind: "value", value: "text", help: "Be the host of one transcript, for a client" },
    json: { kind: "switch", help: "Print the report as JSON" },
    list: { kind: "switch", help: "Print the transcripts, and start nothing" },
    help: { kind: "switch", short: "h", help: "Show all of this in more words" },
  },
  notes: "Exit code: 0 if everything tried holds, 1 if not, 2 if the host does not start.",
  run: async (words, { output }) => {
    const { conformance } = await import("@tau-agent/conformance");
    return conformance(words, output);
  },
};
