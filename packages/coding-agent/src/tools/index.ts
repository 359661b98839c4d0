import type { AgentTool, ToolCallContext } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolEnvironment } from "../processes/environment.ts";
import { bashDescription, bashParameters } from "./bash/definition.ts";
import { ReadLedger } from "./common/read-ledger.ts";
import type { ArgumentsOf, ObjectSchema } from "./common/schema.ts";
import { editDescription, editParameters, prepareEditArguments } from "./edit/definition.ts";
import { findDescription, findParameters } from "./find/definition.ts";
import { grepDescription, grepParameters } from "./grep/definition.ts";
import { lsDescription, lsParameters } from "./ls/definition.ts";
import { readDescription, readParameters } from "./read/definition.ts";
import {
  prepareTodoArguments,
  todoWriteDescription,
  todoWriteParameters,
} from "./todo-write/definition.ts";
import { writeDescription, writeParameters } from "./write/definition.ts";

type BuiltinEnvironment = ToolEnvironment & { readonly readLedger: ReadLedger };

interface BuiltinTool<Schema extends ObjectSchema> {
  readonly description: string;
  readonly parameters: Schema;
  readonly isReadOnly?: boolean;
  readonly promptSnippet: string;
  readonly promptGuidelines?: readonly string[];
  readonly prepareArguments?: (received: Record<string, unknown>) => Record<string, unknown>;
  /** Loads what runs the tool; called at its first use. */
  readonly load: () => Promise<
    (
      args: ArgumentsOf<Schema>,
      environment: BuiltinEnvironment,
      call: ToolCallContext,
    ) => Promise<ToolResult>
  >;
}

type NamedTool<Name extends string> = AgentTool & { readonly name: Name };

/** Ties the type of the arguments to the schema; the loop checks them against it before the call. */
function builtin<const Name extends string, const Schema extends ObjectSchema>(
  name: Name,
  tool: BuiltinTool<Schema>,
) {
  return (environment: BuiltinEnvironment): NamedTool<Name> => {
    const { load, ...described } = tool;
    return {
      name,
      label: name,
      ...described,
      execute: async (args, call) => (await load())(args as ArgumentsOf<Schema>, environment, call),
    };
  };
}

// The order is part of the request prefix that vendors cache.
const tools = [
  builtin("read", {
    description: readDescription,
    parameters: readParameters,
    isReadOnly: true,
    promptSnippet: "Read files and images",
    promptGuidelines: ["Use read to look at files, not cat or sed."],
    load: async () => (await import("./read/read.ts")).runReadTool,
  }),
  builtin("bash", {
    description: bashDescription,
    parameters: bashParameters,
    promptSnippet: "Run shell commands",
    load: async () => (await import("./bash/bash.ts")).runBashTool,
  }),
  builtin("edit", {
    description: editDescription,
    parameters: editParameters,
    promptSnippet: "Replace exact text in a file",
    promptGuidelines: [
      "Use edit for changes in existing files; keep oldText as short as it can be and still be unique.",
    ],
    prepareArguments: prepareEditArguments,
    load: async () => (await import("./edit/edit.ts")).runEditTool,
  }),
  builtin("write", {
    description: writeDescription,
    parameters: writeParameters,
    promptSnippet: "Create a file or replace all of it",
    promptGuidelines: ["Use write only for new files and complete rewrites."],
    load: async () => (await import("./write/write.ts")).runWriteTool,
  }),
  builtin("grep", {
    description: grepDescription,
    parameters: grepParameters,
    isReadOnly: true,
    promptSnippet: "Search file contents (respects .gitignore)",
    load: async () => (await import("./grep/grep.ts")).runGrepTool,
  }),
  builtin("find", {
    description: findDescription,
    parameters: findParameters,
    isReadOnly: true,
    promptSnippet: "Find files by name pattern (respects .gitignore)",
    load: async () => (await import("./find/find.ts")).runFindTool,
  }),
  builtin("ls", {
    description: lsDescription,
    parameters: lsParameters,
    isReadOnly: true,
    promptSnippet: "List a directory",
    load: async () => (await import("./ls/ls.ts")).runLsTool,
  }),
  builtin("todo_write", {
    description: todoWriteDescription,
    parameters: todoWriteParameters,
    promptSnippet: "Write the todo list of the session",
    promptGuidelines: [
      "For work of three steps or more, keep a list with todo_write: one item in_progress, each completed as soon as it is done.",
    ],
    prepareArguments: prepareTodoArguments,
    load: async () => (await import("./todo-write/todo-write.ts")).runTodoWriteTool,
  }),
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
