import { flags } from "./args.ts";

const values = { switch: "", value: " <value>", list: " <value>", optional: " [words]" } as const;

/** What `--help` prints, and what a bare `tau` on a terminal shows. */
export function helpText(): string {
  const rows = Object.entries(flags).map(([name, { short, kind, help }]) => {
    const left = `${short === undefined ? "" : `-${short}, `}--${name}${values[kind]}`;
    return `  ${left.padEnd(36)}${help}`;
  });
  return `tau: a coding agent without a terminal interface, made to be embedded.

Three ways in:
  tau --mode rpc                       commands on stdin, events on stdout (any language)
  import { RpcClient } from "@tau-agent/rpc-client"            the same, typed (Node)
  import { createAgentSession } from "@tau-agent/coding-agent" in your own process

One shot:
  tau -p "explain src/main.ts"         print the answer
  tau --mode json "fix the tests"      print every event of the run

Editors:
  tau acp                              an agent for Zed, JetBrains IDEs and others (Agent Client Protocol)

Undo:
  tau rewind --list | <entryId>        take back what prompts did to the files (--help)

Other hosts:
  tau conformance -- <host>            play the protocol's transcripts against any host (--help)

Options:
${rows.join("\n")}
`;
}
