import { runPrompt, startHost } from "../hosts.ts";
import { scenario } from "../scenario.ts";

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly object[];
}

/** What every request repeats. */
export const fixedPart = scenario({
  rows: {
    "request-bytes-per-tool": {
      what: "fixed part of a request (prompt and tool declarations), per tool",
      unit: "bytes",
      peer: 1,
    },
    "tool-bytes-per-tool": { what: "tool declarations alone, per tool", unit: "bytes", peer: 1 },
  },
  rounds: 1,
  warmUps: 0,
  host: async (stage, contestant) => async () => {
    const host = await startHost(stage, contestant);
    await runPrompt(host);
    await host.stop();
    const { messages, tools } = (await stage.server.lastBody()) as Body;
    const system = messages.filter(({ role }) => role !== "user");
    const declared = JSON.stringify(tools).length;
    return {
      "request-bytes-per-tool": (JSON.stringify(system).length + declared) / tools.length,
      "tool-bytes-per-tool": declared / tools.length,
    };
  },
});
