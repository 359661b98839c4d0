import { argv, stdout } from "node:process";
import { connectWorkspace } from "../../src/workspaces/carrier/connect-workspace.ts";
import { runWorkspaceConformance } from "../../src/workspaces/conformance/run-workspace-conformance.ts";

// Prints the conformance results for the shell given by the arguments.
const workspace = await connectWorkspace({ shell: argv.slice(2), cwd: "/tmp" });
const { limited } = await workspace.describe();
const { results } = await runWorkspaceConformance(workspace);
await workspace.dispose();
stdout.write(JSON.stringify({ limited, results }));
