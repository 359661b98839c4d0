import { commonTool, HARNESS_V1_BUILTIN_TOOLS, type HarnessV1BuiltinTool } from "@ai-sdk/harness";
import * as z from "zod";

const path = z.string();
const tool = (
  nativeName: string,
  toolUseKind: "readonly" | "edit" | "bash",
  inputSchema: z.ZodType,
): HarnessV1BuiltinTool =>
  ({ nativeName, toolUseKind, inputSchema, outputSchema: z.unknown() }) as HarnessV1BuiltinTool;

/**
 * The host's tools by the name under which the AI SDK shows them: a common name if the inputs match. The common
 * `read`, `write` and `edit` use other names for the file's path, so these tools keep the host's definition.
 */
export const builtinTools = {
  bash: commonTool("bash", {
    nativeName: "bash",
    toolUseKind: "bash",
    inputSchema: z.looseObject({ command: z.string(), timeout: z.number().optional() }),
  }),
  grep: commonTool("grep", {
    nativeName: "grep",
    toolUseKind: "readonly",
    inputSchema: z.looseObject({ pattern: z.string(), path: path.optional() }),
  }),
  glob: commonTool("glob", {
    nativeName: "find",
    toolUseKind: "readonly",
    inputSchema: z.looseObject({ pattern: z.string(), path: path.optional() }),
  }),
  read: tool("read", "readonly", z.looseObject({ path })),
  ls: tool("ls", "readonly", z.looseObject({ path: path.optional() })),
  write: tool("write", "edit", z.looseObject({ path, content: z.string() })),
  edit: tool("edit", "edit", z.looseObject({ path })),
  todo_write: tool("todo_write", "readonly", z.looseObject({})),
  askUserQuestions: HARNESS_V1_BUILTIN_TOOLS.askUserQuestions as HarnessV1BuiltinTool,
  task: tool("task", "bash", z.looseObject({})),
} as const;

const shownNames = new Map(
  Object.entries(builtinTools).map(([name, one]) => [nativeOf(one) ?? name, name]),
);

/** The name under which the AI SDK shows a tool of the host. */
export function shownName(nativeName: string): string {
  return shownNames.get(nativeName) ?? nativeName;
}

export function nativeName(name: string): string {
  if (!Object.hasOwn(builtinTools, name)) return name;
  return nativeOf(builtinTools[name as keyof typeof builtinTools]) ?? name;
}

function nativeOf(one: { readonly nativeName?: string } | object): string | undefined {
  return "nativeName" in one ? one.nativeName : undefined;
}
