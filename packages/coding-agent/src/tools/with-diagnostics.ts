import type { ToolCallContext } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { DiagnosedChange, ToolEnvironment } from "@tau-agent/system";
import { problemText, shownProblems } from "../diagnostics/problem.ts";
import type { NamedTool } from "./common/tool-row.ts";

/** The tools that change one file. */
const changing: ReadonlySet<string> = new Set(["edit", "write"]);

/** A tool whose results end with the problems that its change has brought. */
export function withDiagnostics<Name extends string>(
  tool: NamedTool<Name>,
  environment: ToolEnvironment,
): NamedTool<Name> {
  const { fileDiagnosis } = environment;
  if (fileDiagnosis === undefined || !changing.has(tool.name)) return tool;
  const execute = async (args: Record<string, unknown>, call: ToolCallContext) => {
    if (!fileDiagnosis.isOn || typeof args.path !== "string") return tool.execute(args, call);
    const { resolvePath } = await import("./common/paths.ts");
    const started = await fileDiagnosis.begin(await resolvePath(args.path, environment));
    call.signal.throwIfAborted();
    const result = await tool.execute(args, call);
    const { unlessAborted } = await import("@tau-agent/system");
    // The file is changed, whatever is known of it.
    const found = await unlessAborted(started.finish(), call.signal).catch(() => undefined);
    return found === undefined ? result : withProblems(result, found);
  };
  return Object.defineProperties({ execute } as NamedTool<Name>, {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: execute, enumerable: true },
  });
}

function withProblems(result: ToolResult, { problems, hasBaseline }: DiagnosedChange): ToolResult {
  const diagnostics = { new: shownProblems(problems), baseline: hasBaseline };
  const details = { ...(isJsonObject(result.details) ? result.details : {}), diagnostics };
  if (problems.length === 0) return { ...result, details };
  const [first, ...others] = result.content;
  const text = problemText(problems);
  const content =
    first?.type === "text"
      ? [{ ...first, text: `${first.text}\n\n${text}` }, ...others]
      : [...result.content, { type: "text" as const, text }];
  return { ...result, content, details };
}
