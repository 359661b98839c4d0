import { join } from "node:path";
import { type Scenario, toolCall } from "@tau-agent/ai/testing";
import type { ApprovalResult } from "@tau-agent/rpc-protocol";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../../create/options/session-options.ts";
import type { ApprovalRequest, Approve } from "@tau-agent/rpc-protocol";

export type Answer = ApprovalResult | ((request: ApprovalRequest) => unknown);

/** A session whose calls need approval, with its questions and the results of its tools. */
export async function asking(
  scenario: Scenario,
  answers: readonly Answer[],
  more: Partial<CreateAgentSessionOptions> = {},
) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const asked: ApprovalRequest[] = [];
  const approve: Approve = (request) => {
    asked.push(request);
    const answer = answers[asked.length - 1] ?? { decision: "deny" };
    return (typeof answer === "function" ? answer(request) : answer) as ApprovalResult;
  };
  const test = await createTestSession(scenario, {
    ...places,
    permissions: { mode: "ask" },
    approve,
    ...more,
  });
  const results = () =>
    test.session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  const approvals = () => test.written().filter(({ type }) => type === "approval");
  return { ...test, asked, results, approvals, cwd: places.cwd, agent: join(folder, "agent") };
}

export const bash = (command: string) => toolCall("bash", { command });
export const writeCall = (path: string, content = "x\n") => toolCall("write", { path, content });
