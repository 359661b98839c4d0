import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { DiagnosedChange, ToolEnvironment } from "@tau-agent/system";
import { problemText, shownProblems } from "../diagnostics/problem.ts";
import type { Execute } from "./common/tool-row.ts";

/** The tools that change a single file. */
const changing: ReadonlySet<string> = new Set(["edit", "write"]);

/** Appends the problems that a tool's change has introduced to its result. */
export function withDiagnostics(
  execute: Execute,
  tool: string,
  environment: ToolEnvironment,
): Execute {
  if (!changing.has(tool)) return execute;
  return async (args, call) => {
    const { fileDiagnosis } = environment;
    if (!fileDiagnosis?.isOn || typeof args.path !== "string") return execute(args, call);
    const { resolvePath } = await import("./common/paths.ts");
    const started = await fileDiagnosis.begin(await resolvePath(args.path, environment));
    call.signal.throwIfAborted();
    const result = await execute(args, call);
    const { unlessAborted } = await import("@tau-agent/system");
    // The file is changed, even if the problems are unknown.
    const found = await unlessAborted(started.finish(), call.signal).catch(() => undefined);
    return found === undefined ? result : withProblems(result, found);
  };
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
