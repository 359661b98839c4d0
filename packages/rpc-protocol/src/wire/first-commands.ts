import type { CommandName, Params } from "../commands/index.ts";
import { type CommandTraits, traitsOf } from "../commands/traits.ts";
import { protocolNames } from "../dialects/index.ts";
import { isJsonObject } from "../vocabulary/json-object.ts";
import type { CommandFrame } from "./frame.ts";

/** Whether a member is certainly valid; if false, the schema decides. */
type IsRight = (value: unknown) => boolean;

/** The parts of a command's definition that are needed here. */
interface FirstCommand<N extends CommandName> {
  readonly traits: CommandTraits;
  /** Undefined if the command has no members; any that are sent are then ignored. */
  readonly members: { readonly [M in keyof Params<N>]?: IsRight } | undefined;
  readonly required?: keyof Params<N> & string;
}

const isText: IsRight = (value) => typeof value === "string";
const areTexts: IsRight = (value) => Array.isArray(value) && value.every(isText);
const isOneOf =
  (values: readonly string[]): IsRight =>
  (value) =>
    values.some((known) => known === value);

const question = { traits: traitsOf({}), members: undefined };

/**
 * The first commands of clients to a host that has just started, in their usual forms. Decoding these without the
 * schemas of all commands saves 16 to 25 ms until the first answer (rows `start`, `first-prompt`, `short-switch`,
 * `short-fork`, `fork-messages`, `session-append`). Every other form, and every error, is left to the schemas, which
 * are then loaded.
 */
const firstCommands: { readonly [N in CommandName]?: FirstCommand<N> } = {
  get_state: { traits: traitsOf({ answersAtOnce: true }), members: undefined },
  get_messages: question,
  get_session_stats: question,
  get_available_models: question,
  get_fork_messages: question,
  get_branch_messages: question,
  get_commands: question,
  abort: { traits: traitsOf({ data: "none", answersAtOnce: true }), members: undefined },
  switch_session: {
    traits: traitsOf({ awaitsSessionChange: true }),
    required: "sessionPath",
    members: { sessionPath: isText },
  },
  set_session_name: {
    traits: traitsOf({ data: "none", awaitsSessionChange: true }),
    required: "name",
    members: { name: isText },
  },
  fork: {
    traits: traitsOf({ awaitsSessionChange: true }),
    required: "entryId",
    members: { entryId: isText },
  },
  initialize: {
    traits: traitsOf({ scope: "host", answersAtOnce: true }),
    members: {
      protocol: isOneOf(protocolNames),
      stream: isOneOf(["full", "delta"]),
      mergeMs: (value) => typeof value === "number" && value >= 0 && value <= 100,
      clientInfo: isClient,
      events: (value) => value === null || areTexts(value),
      capabilities: areCapabilities,
    },
  },
  prompt: {
    traits: traitsOf({ data: "initialized", awaitsSessionChange: true, beginsWork: true }),
    required: "message",
    members: {
      message: isText,
      streamingBehavior: isOneOf(["steer", "followUp", "follow-up"]),
    },
  },
};

/** The decoded frame of a first command in its usual form; undefined for every other line. */
export function decodeFirst(line: Readonly<Record<string, unknown>>): CommandFrame | undefined {
  const { type, id } = line;
  // In a host with many sessions, opening a session has already loaded the schemas.
  if ("sessionId" in line) return undefined;
  if (typeof type !== "string" || !Object.hasOwn(firstCommands, type)) return undefined;
  // Other ids are left to the full decoder, which reads them exactly.
  if (typeof (id ?? "") !== "string" && !Number.isSafeInteger(id)) return undefined;
  const command = Reflect.get(firstCommands, type) as FirstCommand<CommandName>;
  const { traits, members } = command;
  const params = members === undefined ? {} : paramsOf(line);
  if (members !== undefined && !isUsual(params, command)) return undefined;
  const known = { id: id ?? undefined, name: type, params };
  return { kind: "command", ...known, ...traits } as CommandFrame;
}

function paramsOf(line: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { type: _, id: __, ...params } = line;
  return params;
}

function isUsual(
  params: Readonly<Record<string, unknown>>,
  { members = {}, required }: FirstCommand<CommandName>,
): boolean {
  if (required !== undefined && !(required in params)) return false;
  return Object.entries(params).every(([name, value]) => {
    if (!Object.hasOwn(members, name)) return false;
    const isRight = Reflect.get(members, name) as IsRight;
    return isRight(value);
  });
}

function isClient(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { name, version = "", ...rest } = value;
  return isText(name) && isText(version) && Object.keys(rest).length === 0;
}

function areCapabilities(value: unknown): boolean {
  if (!isJsonObject(value) || Object.hasOwn(value, "__proto__")) return false;
  const { hostRequests = true, workspace = true } = value;
  if (typeof workspace !== "boolean") return false;
  return typeof hostRequests === "boolean" || areTexts(hostRequests);
}
