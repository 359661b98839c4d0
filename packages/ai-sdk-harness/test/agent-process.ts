// A process with a harness agent that starts a turn and suspends it, or resumes one. Prints JSON lines.
import { argv, exit, stdout } from "node:process";
import { HarnessAgent } from "@ai-sdk/harness/agent";
import { createJustBashSandbox } from "@ai-sdk/sandbox-just-bash";
import { createTauHarness, type TauHarnessOptions } from "../src/index.ts";

export interface AgentProcessOptions {
  readonly harness: TauHarnessOptions;
  readonly permissionMode?: "allow-reads";
  /** The part after which the turn is suspended; without it, the turn is read to its end. */
  readonly suspendAfter?: string;
  /** Whether the process keeps running until it is killed. */
  readonly stays?: boolean;
  /** The output of an earlier process. */
  readonly suspended?: { readonly sessionId: string; readonly state: unknown };
  readonly approve?: string;
}

const options = JSON.parse(argv[2] ?? "") as AgentProcessOptions;
const { harness, permissionMode, suspendAfter, suspended, approve } = options;
const print = (value: object): void => void stdout.write(`${JSON.stringify(value)}\n`);
const sandbox = createJustBashSandbox();
const agent = new HarnessAgent({
  harness: createTauHarness(harness),
  sandbox,
  ...(permissionMode && { permissionMode }),
} as never);
const session = await agent.createSession(
  suspended &&
    ({
      sessionId: suspended.sessionId,
      continueFrom: suspended.state,
      // The sandbox has no id by which it could be found again.
      sandboxSession: await sandbox.createSession(),
    } as never),
);
const continuations = approve === undefined ? [] : [{ approvalId: approve, approved: true }];
const stream =
  suspended === undefined
    ? await agent.stream({ session, prompt: "Go" })
    : await agent.continueStream({ session, toolApprovalContinuations: continuations } as never);
let suspending: ReturnType<typeof session.suspendTurn> | undefined;
// The parts before the suspension still have to be read.
for await (const part of stream.fullStream) {
  print(part.type === "error" ? { ...part, error: String(part.error) } : part);
  if (part.type === suspendAfter) suspending ??= session.suspendTurn();
}
if (suspending === undefined) {
  await session.destroy();
  print({ ended: true });
} else {
  print({ sessionId: session.sessionId, state: await suspending });
  if (options.stays) await new Promise((resolve) => setTimeout(resolve, 600_000));
  exit(0);
}
