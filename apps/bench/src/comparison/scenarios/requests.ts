import { runPrompt } from "../../runs.ts";
import { commonTools, startHost } from "../hosts.ts";
import { type Contestant, type Stage, scenario } from "../scenario.ts";

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly object[];
}

/** The part that every request repeats. */
export const fixedPart = scenario({
  rows: {
    "request-bytes-per-tool": {
      what: "fixed part of a request (prompt and tool declarations), per tool",
      unit: "bytes",
      peer: 1,
    },
    "declaration-bytes": {
      what: "declarations of the seven tools that all have, per tool",
      unit: "bytes",
      peer: 1,
    },
  },
  rounds: 1,
  warmUps: 0,
  host: async (stage, contestant) => async () => {
    const usual = await firstRequest(stage, contestant);
    const common = await firstRequest(stage, contestant, ["--tools", commonTools]);
    const system = usual.messages.filter(({ role }) => role !== "user");
    const fixed = bytesOf(system) + bytesOf(usual.tools);
    return {
      "request-bytes-per-tool": fixed / usual.tools.length,
      "declaration-bytes": bytesOf(common.tools) / common.tools.length,
    };
  },
});

async function firstRequest(
  stage: Stage,
  contestant: Contestant,
  args: readonly string[] = [],
): Promise<Body> {
  const host = await startHost(stage, contestant, ["--no-session", ...args]);
  await runPrompt(host);
  await host.stop();
  return (await stage.server.lastBody()) as Body;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
