import type { AgentTool, ToolCallContext } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolEnvironment } from "@tau-agent/system";
import type { SessionJobs } from "../../jobs/session-jobs.ts";
import type { ReadLedger } from "./read-ledger.ts";
import type { ArgumentsOf, ObjectSchema } from "./schema.ts";

/** The environment that a session's built-in tools share. */
export type BuiltinEnvironment = ToolEnvironment & {
  readonly readLedger: ReadLedger;
  /** The session's background jobs; undefined for tools outside of a session. */
  readonly jobs?: SessionJobs | undefined;
};

/** The type of the arguments of a schema, as far as its keywords are known here. */
type ArgumentsFor<Schema> = Schema extends ObjectSchema
  ? ArgumentsOf<Schema>
  : Record<string, unknown>;

type Run<Arguments, Environment> = (
  args: Arguments,
  environment: Environment,
  call: ToolCallContext,
) => Promise<ToolResult>;

interface RowParts<Name extends string, Environment>
  extends Pick<
    AgentTool,
    | "isReadOnly"
    | "isParallel"
    | "openWorld"
    | "promptSnippet"
    | "promptGuidelines"
    | "prepareArguments"
    | "callsByName"
  > {
  readonly name: Name;
  /** The text for the model; if it depends on the session, a function that is called once per session. */
  readonly description: string | ((environment: Environment) => () => string);
  /** For the order of calls: whether this call only reads. */
  readonly isReadOnlyCall?: (
    args: Record<string, unknown>,
    environment: Environment,
  ) => boolean | Promise<boolean>;
  /** For the order of calls: the real path of the file that this call writes. */
  readonly writtenPath?: (
    args: Record<string, unknown>,
    environment: Environment,
  ) => Promise<string | undefined>;
}

interface TypedRow<Name extends string, Properties, Required, Environment>
  extends RowParts<Name, Environment> {
  /** The schema of each argument, and the names of the required ones. */
  readonly properties: Properties;
  readonly required?: Required;
  /** Loads the code that runs the tool; called at its first use. */
  readonly load: () => Promise<
    Run<ArgumentsFor<{ type: "object"; properties: Properties; required: Required }>, Environment>
  >;
}

/** Everything about a tool in one place, with its code behind `load`. */
export interface ToolRow<Name extends string, Environment> extends RowParts<Name, Environment> {
  readonly parameters: AgentTool["parameters"];
  readonly load: () => Promise<Run<Record<string, unknown>, Environment>>;
}

/** A tool whose name is known to the type system. */
export type NamedTool<Name extends string> = AgentTool & { readonly name: Name };

/** Ties the type of the arguments to the schema, against which the agent loop validates them before the call. */
export function toolRow<
  const Name extends string,
  const Properties extends Readonly<Record<string, unknown>>,
  const Required extends readonly string[],
  Environment = BuiltinEnvironment,
>(row: TypedRow<Name, Properties, Required, Environment>): ToolRow<Name, Environment> {
  const { properties, required, ...rest } = row;
  const parameters = { type: "object", properties, ...(required && { required }) };
  return { ...rest, parameters } as unknown as ToolRow<Name, Environment>;
}

/** The function that runs a tool call. */
export type Execute = AgentTool["execute"];

/**
 * Creates a row's tool for a session; loads and reads nothing yet.
 *
 * @param around - wraps the execution of a call
 */
export function createTool<Name extends string, Environment>(
  row: ToolRow<Name, Environment>,
  environment: Environment,
  around: (execute: Execute) => Execute = (execute) => execute,
): NamedTool<Name> {
  const { load, description: text, isReadOnlyCall, writtenPath, ...described } = row;
  let run: Awaited<ReturnType<typeof load>> | undefined;
  const tool: NamedTool<Name> = {
    label: row.name,
    ...described,
    description: typeof text === "string" ? text : "",
    ...(isReadOnlyCall && { isReadOnlyCall: (args) => isReadOnlyCall(args, environment) }),
    ...(writtenPath && { writtenPath: (args) => writtenPath(args, environment) }),
    execute: around(async (args, call) => {
      // Kept, because an import costs as much as a small file, even of a loaded module (row "`read` turn: CPU").
      run ??= await load();
      return run(args, environment, call);
    }),
  };
  if (typeof text === "string") return tool;
  // Only where needed: a getter makes an object five times as large, and each session has twenty tools.
  return Object.defineProperty(tool, "description", { get: text(environment), enumerable: true });
}
