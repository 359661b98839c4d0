// A review that fails a CI job: node docs/examples/ci-review.ts
import { RpcClient } from "@tau-agent/rpc-client";
import { z } from "zod";

const Problem = z.object({
  file: z.string(),
  line: z.number().int(),
  severity: z.enum(["error", "warning"]),
  text: z.string(),
});

const client = new RpcClient({
  // For a real model, leave these two out and set its key in the environment of the job.
  provider: "scripted",
  model: new URL("scenarios/ci-review.json", import.meta.url).pathname,
  session: "memory",
  // Nobody answers questions here: what only reads runs, everything else is refused.
  permissions: "readOnly",
});
await client.start();
await client.setBudget({ maxCostUsd: 1, maxWallTimeMs: 300_000 });

const result = await client.promptAndWait("Review the changes of the last commit.", {
  outputSchema: z.object({ problems: z.array(Problem) }),
});
if (result.outputStatus !== "valid") throw new Error(result.error ?? result.text);
const problems = result.output?.problems ?? [];
for (const { file, line, severity, text } of problems) {
  // The form that GitHub shows at the line.
  console.log(`::${severity} file=${file},line=${line}::${text}`);
}
await client.stop();
process.exitCode = problems.some(({ severity }) => severity === "error") ? 1 : 0;
