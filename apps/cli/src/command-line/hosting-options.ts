import type { OptionTable, OptionValues } from "./option-row.ts";
import { refuse, wholeNumber } from "./values.ts";

export const hostingOptions = {
  sessions: {
    kind: "switch",
    help: "With --mode rpc: many sessions in one host, opened with open_session",
  },
  listen: {
    kind: "list",
    value: "address",
    help: "With --mode rpc: unix:<path> or <host>:<port> instead of stdin; repeatable",
  },
  "token-file": {
    value: "file",
    isPath: true,
    help: "File with the token for TCP; by default rpc-token in the agent directory",
  },
  "allow-origin": {
    kind: "list",
    value: "origin",
    help: "Web page that may connect, such as https://example.org; repeatable",
  },
  "allow-remote": {
    kind: "switch",
    help: "Listen at addresses that other machines can reach",
  },
  console: {
    kind: "switch",
    help: "With --listen <host>:<port>: serve the console, a page for its sessions; tau console starts one",
  },
  "console-host": {
    kind: "list",
    value: "name",
    help: "Another name of this host that the console is opened by, as behind a proxy; repeatable",
  },
  "session-idle-ms": {
    value: "ms",
    help: "Close a session without connection and work after this time (1800000)",
  },
  "end-with-sessions": {
    kind: "switch",
    help: "With --sessions: end once the last session was closed, or none was opened for --session-idle-ms",
  },
  "drain-timeout-ms": {
    value: "ms",
    help: "How long running prompts may take when the host drains (25000)",
  },
  "client-timeout-ms": {
    value: "ms",
    help: "With a client on stdin: end once it has sent nothing for this time, not even a blank line",
  },
  isolate: {
    choices: ["process"],
    help: "With --sessions: run each session in a process of its own",
  },
} as const satisfies OptionTable;

export type HostingOptions = OptionValues<typeof hostingOptions>;

/**
 * How long a client on stdin may be silent; undefined means forever.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export function clientTimeoutOf({ clientTimeoutMs, listen }: HostingOptions): number | undefined {
  const option = "--client-timeout-ms";
  const time = milliseconds(option, clientTimeoutMs);
  if (time === 0) refuse(option, "it takes a time above 0");
  if (time !== undefined && listen.length > 0) {
    refuse(option, "with --listen, no client is on stdin");
  }
  return time;
}

/**
 * Parses an option whose value is a duration.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export function milliseconds(option: string, value: string | undefined): number | undefined {
  return wholeNumber(option, value, { pattern: /^\d{1,9}$/ });
}
