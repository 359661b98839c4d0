import type { OptionTable } from "../command-line/option-row.ts";
import type { CommandLine } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";

export interface McpRequest {
  readonly action: McpAction;
  readonly name: string | undefined;
  readonly isLocal: boolean;
  readonly isJson: boolean;
  readonly entry: Readonly<Record<string, unknown>>;
}

type McpAction = (typeof actions)[number];

const actions = ["add", "list", "remove", "test", "login", "logout"] as const;

type Line = CommandLine<OptionTable>;

/**
 * Parses the arguments of `tau mcp`.
 *
 * @throws {ProtocolError} `invalid_option` naming the word
 */
export function readRequest({ action, words, values, behind }: Line): McpRequest {
  const known = actions.find((one) => one === action) ?? "list";
  const [name, extra] = words;
  const isNamed = known !== "list" && known !== "test";
  if (name === undefined && isNamed) refuse(`mcp ${known}`, missingName(known));
  const surplus = known === "list" ? name : extra;
  if (surplus !== undefined) {
    const hint = known === "add" ? "; the program goes behind --" : "";
    refuse(surplus, `it is one word too many${hint}`);
  }
  if (known !== "add" && behind !== undefined) refuse("--", "only tau mcp add takes a program");
  return {
    action: known,
    name,
    isLocal: values.local === true,
    isJson: values.json === true,
    entry: known === "add" ? entryOf(values as Values, behind) : {},
  };
}

function missingName(action: McpAction): string {
  const reason = "the name of the server is missing";
  if (action !== "add") return `${reason}; tau mcp list shows those there are`;
  return `${reason}: tau mcp add <name> -- <program>, or tau mcp add <name> --url <address>`;
}

type Values = Readonly<Record<string, string | undefined>> & {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
};

function entryOf(values: Values, program: readonly string[] | undefined) {
  const { url, cwd, exposure, description } = values;
  const [command, ...args] = program ?? [];
  if (url !== undefined && command !== undefined) refuse("--url", "a program rules it out");
  if (url === undefined && command === undefined) {
    refuse("mcp add", "a program behind -- or --url is missing: tau mcp add <name> -- <program>");
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
