import type { AgentTool, ToolCallContext } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolEnvironment } from "../processes/environment.ts";
import { bashTool } from "./bash/definition.ts";
import { ReadLedger } from "./common/read-ledger.ts";
import type { ArgumentsOf } from "./common/schema.ts";
import type { ToolDefinition } from "./common/tool-definition.ts";
import { editTool } from "./edit/definition.ts";
import { findTool } from "./find/definition.ts";
import { grepTool } from "./grep/definition.ts";
import { lsTool } from "./ls/definition.ts";
import { readTool } from "./read/definition.ts";
import { todoWriteTool } from "./todo-write/definition.ts";
import { writeTool } from "./write/definition.ts";

type BuiltinEnvironment = ToolEnvironment & { readonly readLedger: ReadLedger };

type NamedTool<Name extends string> = AgentTool & { readonly name: Name };

type RunTool<Definition extends ToolDefinition> = (
  args: ArgumentsOf<Definition["parameters"]>,
  environment: BuiltinEnvironment,
  call: ToolCallContext,
) => Promise<ToolResult>;

/**
 * Joins what the model reads about a tool with what runs it, which `load` loads at its first use. Ties
 * the type of the arguments to the schema; the loop checks them against it before the call.
 */
function builtin<const Definition extends ToolDefinition>(
  definition: Definition,
  load: () => Promise<RunTool<Definition>>,
) {
  return (environment: BuiltinEnvironment): NamedTool<Definition["name"]> => ({
    label: definition.name,
    ...definition,
    execute: async (args, call) =>
      (await load())(args as ArgumentsOf<Definition["parameters"]>, environment, call),
  });
}

// The order is part of the request prefix that vendors cache.
const tools = [
  builtin(readTool, async () => (await import("./read/read.ts")).runReadTool),
  builtin(bashTool, async () => (await import("./bash/bash.ts")).runBashTool),
  builtin(editTool, async () => (await import("./edit/edit.ts")).runEditTool),
  builtin(writeTool, async () => (await import("./write/write.ts")).runWriteTool),
  builtin(grepTool, async () => (await import("./grep/grep.ts")).runGrepTool),
  builtin(findTool, async () => (await import("./find/find.ts")).runFindTool),
  builtin(lsTool, async () => (await import("./ls/ls.ts")).runLsTool),
  builtin(todoWriteTool, async () => (await import("./todo-write/todo-write.ts")).runTodoWriteTool),
] as const;

/** Name of a built-in tool that needs nothing but its environment. */
export type BuiltinToolName = ReturnType<(typeof tools)[number]>["name"];

/** Makes those tools, always in the same order; loads and reads nothing yet. */
export function createTools(environment: ToolEnvironment): NamedTool<BuiltinToolName>[] {
  const shared = {
    ...environment,
    get cwd() {
      return environment.cwd;
    },
    readLedger: new ReadLedger(),
  };
  return tools.map((create) => create(shared));
}
