import type { ToolEnvironment } from "@tau-agent/system";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import { bashTool } from "./bash/definition.ts";
import { ReadLedger } from "./common/read-ledger.ts";
import {
  type BuiltinEnvironment,
  createTool,
  type NamedTool,
  type ToolRow,
} from "./common/tool-row.ts";
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

/** The name of a built-in tool that needs only its environment. */
export type BuiltinToolName = (typeof rows)[number]["name"];

/** Creates these tools, always in the same order; loads and reads nothing yet. */
export function createTools(
  environment: ToolEnvironment,
  jobs?: SessionJobs,
): NamedTool<BuiltinToolName>[] {
  const shared = withChanges(environment, { readLedger: new ReadLedger(), jobs });
  return rows.map((row) =>
    createTool(row, shared, (execute) => {
      const inside =
        environment.sandbox === undefined
          ? execute
          : withWayOut(execute, row.name, () => createOutside(row, shared).execute, environment);
      return withClientUris(withDiagnostics(inside, row.name, environment), row.name, environment);
    }),
  );
}

function createOutside<Name extends string>(
  row: ToolRow<Name, BuiltinEnvironment>,
  environment: BuiltinEnvironment,
): NamedTool<Name> {
  const workspace = environment.outside?.() ?? environment.workspace;
  return createTool(row, withChanges(environment, { sandbox: undefined, workspace }));
}

/** Uses the environment as a prototype: a copy would evaluate its lazy members now, and freeze them. */
function withChanges<Given extends ToolEnvironment, Changes extends object>(
  environment: Given,
  changes: Changes,
): Given & Changes {
  return Object.assign(Object.create(environment), changes);
}
