import type { ToolEnvironment } from "@tau-agent/system";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import { bashTool } from "./bash/definition.ts";
import { ReadLedger } from "./common/read-ledger.ts";
import { createTool, type NamedTool } from "./common/tool-row.ts";
import { editTool } from "./edit/definition.ts";
import { findTool } from "./find/definition.ts";
import { grepTool } from "./grep/definition.ts";
import { jobKillTool, jobOutputTool, listJobsTool } from "./jobs/definition.ts";
import { lsTool } from "./ls/definition.ts";
import { readTool } from "./read/definition.ts";
import { todoWriteTool } from "./todo-write/definition.ts";
import { withWayOut } from "./way-out.ts";
import { webFetchTool } from "./web-fetch/definition.ts";
import { withClientUris } from "./with-client-uris.ts";
import { withDiagnostics } from "./with-diagnostics.ts";
import { writeTool } from "./write/definition.ts";

// The order is part of the request prefix that vendors cache.
const rows = [
  readTool,
  bashTool,
  editTool,
  writeTool,
  grepTool,
  findTool,
  lsTool,
  todoWriteTool,
  jobOutputTool,
  jobKillTool,
  listJobsTool,
  webFetchTool,
] as const;

/** Name of a built-in tool that needs nothing but its environment. */
export type BuiltinToolName = (typeof rows)[number]["name"];

/** Makes those tools, always in the same order; loads and reads nothing yet. */
export function createTools(
  environment: ToolEnvironment,
  jobs?: SessionJobs,
): NamedTool<BuiltinToolName>[] {
  const shared = {
    ...environment,
    get cwd() {
      return environment.cwd;
    },
    readLedger: new ReadLedger(),
    jobs,
  };
  const all = (tool: NamedTool<BuiltinToolName>) =>
    withClientUris(withDiagnostics(tool, environment), environment);
  return rows.map((row) => {
    const tool = createTool(row, shared);
    if (environment.sandbox === undefined) return all(tool);
    const outside = () =>
      createTool(row, {
        ...shared,
        sandbox: undefined,
        workspace: environment.outside?.() ?? environment.workspace,
      });
    return all(withWayOut(tool, outside, environment));
  });
}
