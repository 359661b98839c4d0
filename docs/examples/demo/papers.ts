/** The task of the third act, and how the scripted model does it. */
import { type ScenarioRequest, type Turn, toolCall, turn } from "@tau-agent/ai/testing";

/** The first attempt forgets the heading, so verification sends it back for repair. */
const verify = {
  commands: [
    { name: "tests", command: "node --test", timeoutMs: 120_000 },
    { name: "heading", command: "grep '^## Fixed' CHANGES.md || { cat CHANGES.md; exit 1; }" },
  ],
  onFailure: "retry_once",
};

const TASK = "Write CHANGES.md: what was fixed in this project, in a sentence.";

export const CHANGELOG_PROMPT = `Have a subagent do this: "${TASK}" Call the tool task once, with isolated: true and verify: ${JSON.stringify(verify)}. Do not write the file yourself.`;

const note = "The number of days in a month comes out right again, and with it the invoices.";
const pacing = { chunkSize: 12, delayMs: 6 };

/** The scripted model's next step if the conversation is about the changelog. */
export function writeChangelog({ lastUserText, toolResults }: ScenarioRequest): Turn | undefined {
  const hasActed = toolResults.length > 0;
  if (lastUserText === CHANGELOG_PROMPT) {
    return hasActed
      ? turn("It came back once it passed.", pacing)
      : turn(toolCall("task", { task: TASK, isolated: true, verify }), pacing);
  }
  if (lastUserText.startsWith(TASK)) {
    return hasActed
      ? turn("I wrote it.", pacing)
      : turn(toolCall("write", { path: "CHANGES.md", content: `- ${note}\n` }), pacing);
  }
  if (!lastUserText.startsWith("Your work was checked")) return undefined;
  const repaired = { path: "CHANGES.md", oldText: "- ", newText: "## Fixed\n\n- " };
  return hasActed
    ? turn("Now it has its heading.", pacing)
    : turn(["The heading is missing.", toolCall("edit", repaired)], pacing);
}
