import { argv, stdout } from "node:process";
import { connectWorkspace } from "../../src/workspaces/carrier/connect-workspace.ts";
import { patientLimits } from "../../src/workspaces/conformance/__fixtures__/patient-limits.ts";
import { runChecks } from "../../src/workspaces/conformance/run-workspace-conformance.ts";

// Prints the conformance results for the shell given by the arguments.
const workspace = await connectWorkspace({ shell: argv.slice(2), cwd: "/tmp" });
const { limited } = await workspace.describe();
const { results } = await runChecks(workspace, patientLimits);
await workspace.dispose();
stdout.write(JSON.stringify({ limited, results }));
