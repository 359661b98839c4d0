import { defineSubcommand } from "../command-line/define-subcommand.ts";
import { refuse } from "../command-line/values.ts";

export const conformance = defineSubcommand({
  name: "conformance",
  summary: "Play the protocol's transcripts against any host",
  usage: ["[options] -- <host and its arguments>", "--list [--filter <text>]", "--play <text>"],
  options: {
    dialect: {
      value: "names",
      help: "Dialects to try, comma-separated; by default those the host names, else pi",
    },
    filter: {
      value: "text",
      help: "Only transcripts whose name or requirements contain the text",
    },
    strict: { kind: "switch", help: "Further members and events are deviations, too" },
    api: {
      value: "name",
      help: "Wire format of the scripted model (anthropic-messages)",
    },
    "timeout-ms": { value: "n", help: "How long a frame is waited for (10000)" },
    play: {
      value: "text",
      help: "Be the host of the one transcript with this in its name, on stdin and stdout, for a client; what the client does wrong is told on stderr",
    },
    json: { kind: "switch", help: "Print the report as JSON" },
    list: {
      kind: "switch",
      help: "Print the transcripts and what they show, and start nothing",
    },
  },
  takesProgram: true,
  // The client starts this program like a host, with its own arguments.
  passesOver: (words) => words.some((word) => word === "--play" || word.startsWith("--play=")),
  notes: `The host is started with --mode rpc, unless a --mode is among its arguments.
Exit code: 0 if everything tried holds, 1 if not, 2 if the host does not start.`,
  run: async ({ values, words: [word], behind = [] }, { output }) => {
    if (word !== undefined && values.play === undefined) {
      refuse(word, "the host and its arguments come behind --");
    }
    const { conformance } = await import("@tau-agent/conformance");
    return conformance(values, behind, output);
  },
});
