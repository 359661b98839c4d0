// Makes the model check its work once before the session settles, and counts turns.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function followThrough(pi: ExtensionApi): void {
  let hasChanged = false;
  pi.on("tool_result", ({ toolName, isError }) => {
    if (!isError && (toolName === "edit" || toolName === "write")) hasChanged = true;
  });
  pi.on("turn_end", ({ turnIndex, messageEntryId, entries }) => ({
    entries: [
      ...entries,
      { type: "custom", customType: "turn", data: { turnIndex, messageEntryId } },
    ],
  }));
  pi.on("agent_before_settle", ({ entries, outcome }) => {
    if (!hasChanged || outcome !== "completed") return undefined;
    hasChanged = false;
    const content = "Run the tests of what you changed, if there are any.";
    return {
      entries: [
        ...entries,
        { type: "custom_message", customType: "check", content, display: false },
      ],
      continue: true,
    };
  });
}
