import { parseArgs } from "node:util";
import { errorMessage, ProtocolError } from "@tau-agent/rpc-protocol";

/** What `tau mcp` was asked for. */
export interface McpRequest {
  readonly action: McpAction;
  readonly name: string | undefined;
  readonly isLocal: boolean;
  readonly isJson: boolean;
  readonly isHelp: boolean;
  /** The entry to add. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** What `tau mcp` can do. */
type McpAction = (typeof actions)[number];

const actions = ["add", "list", "remove", "test", "login", "logout"] as const;

const flags = {
  local: { type: "boolean", short: "l" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  env: { type: "string", multiple: true },
  cwd: { type: "string" },
  url: { type: "string" },
  header: { type: "string", multiple: true },
  exposure: { type: "string" },
  description: { type: "string" },
} as const;

/** The text of `tau mcp --help`. */
export const usage = `tau mcp <command>

  add [-l] <name> [--env K=V] [--cwd <folder>] -- <program and its arguments>
  add [-l] <name> --url <address> [--header K=V]
                      Adds a server, or replaces it; --exposure and --description, too
  list [--json]       Connects to all servers; exit code 1 when one of them is down
  test [<name>]       Connects to one server, or to all, and shows the tools
  remove [-l] <name>  Removes a server
  login <name>        Logs in to a server; prints the page to open
  logout <name>       Forgets the login of a server

The user's file is mcp.json in the agent directory; -l means .pi/mcp.json of this project.
`;

/**
 * Reads the words behind `tau mcp`.
 *
 * @throws {ProtocolError} `invalid_option` naming the word
 */
export function readWords(words: readonly string[]): McpRequest {
  const end = words.indexOf("--");
  const program = end === -1 ? undefined : words.slice(end + 1);
  const { values, positionals } = parse(end === -1 ? words : words.slice(0, end));
  const [action, name, extra] = positionals;
  const isHelp = values.help === true || (action === undefined && words.length === 0);
  const known = actions.find((one) => one === action);
  if (isHelp) {
    const rest = { name, isLocal: false, isJson: false, entry: {} };
    return { action: known ?? "list", isHelp, ...rest };
  }
  if (known === undefined) refuse(action ?? "mcp", `expected one of ${actions.join(", ")}`);
  const isNamed = known !== "list" && known !== "test";
  if (name === undefined && isNamed) refuse(`mcp ${known}`, "the name of the server is missing");
  const surplus = known === "list" ? name : extra;
  if (surplus !== undefined) {
    const hint = known === "add" ? "; the program goes behind --" : "";
    refuse(surplus, `it is one word too many${hint}`);
  }
  return {
    action: known ?? "list",
    name,
    isLocal: values.local ?? false,
    isJson: values.json ?? false,
    isHelp,
    entry: known === "add" ? entryOf(values, program) : {},
  };
}

type Values = ReturnType<typeof parse>["values"];

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: flags, allowPositionals: true });
  } catch (error) {
    const [, option = "mcp"] = /'(-[^' ]*)/.exec(errorMessage(error)) ?? [];
    return refuse(option, "tau mcp does not know it, or its value is missing; see tau mcp --help");
  }
}

function entryOf(values: Values, program: readonly string[] | undefined) {
  const { url, cwd, exposure, description } = values;
  const [command, ...args] = program ?? [];
  if (url !== undefined && command !== undefined) refuse("--url", "a program rules it out");
  if (url === undefined && command === undefined) {
    refuse("mcp add", "a program behind -- or --url is missing");
  }
  const env = pairs("--env", values.env);
  const headers = pairs("--header", values.header);
  return {
    ...(url === undefined ? { command } : { url }),
    ...(args.length > 0 ? { args } : {}),
    ...(env === undefined ? {} : { env }),
    ...(headers === undefined ? {} : { headers }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(exposure === undefined ? {} : { exposure }),
    ...(description === undefined ? {} : { description }),
  };
}

function pairs(
  option: string,
  given: readonly string[] | undefined,
): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const entries = given.map((pair) => {
    const at = pair.indexOf("=");
    // The value may be a secret, so it is not shown.
    if (at <= 0) refuse(option, "expected NAME=VALUE");
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function refuse(option: string, reason: string): never {
  throw new ProtocolError("invalid_option", { option, reason });
}
