// A program that decides what tools may do: node docs/examples/approvals.ts
import { RpcClient } from "@tau-agent/rpc-client";

const client = new RpcClient({
  // For a real model, set a key such as ANTHROPIC_API_KEY and leave these two out.
  provider: "scripted",
  model: `${import.meta.dirname}/clean-up.json`,
  args: ["--no-session", "--permission-mode", "ask"],
  approve: async ({ title, parts = [], suggestions }) => {
    console.log(title);
    for (const { text, action } of parts) console.log(`  ${action}: ${text}`);
    // A real program asks a person here.
    // The suggested rules allow exactly this call; without one, Tau does not know all that the line does.
    const isHarmless =
      suggestions.length > 0 &&
      suggestions.every(({ match = "" }) => match === "ls" || match.startsWith("git "));
    if (isHarmless) return { decision: "allow", scope: "session" };
    return { decision: "deny", message: "nothing may be deleted" };
  },
});
await client.start();
await client.setPermissions({ rules: [{ tool: "bash", match: "ls *", action: "allow" }] });
const { text } = await client.promptAndWait("Clean up this folder.");
console.log(text);
await client.stop();
