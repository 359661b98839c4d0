/** The tasks of the three subagents, and how the scripted model does them. */
import { type ScenarioRequest, type Turn, toolCall, turn } from "@tau-agent/ai/testing";
import { doneCalls } from "./conversation.ts";

/** Each on its own, and each checked before it comes back. */
const tasks = [
  { id: "changes", task: "Write CHANGES.md: what was fixed in this project, in a sentence." },
  { id: "guide", task: "Write CONTRIBUTING.md: how to run the tests of this project." },
  { id: "map", task: "Write FILES.md: a line for each file in src." },
];

/** In the worktree of a task only its own file is new. */
const titles =
  "for f in CHANGES.md CONTRIBUTING.md FILES.md; do [ ! -f $f ] || grep -q '^# ' $f || { echo $f has no title; exit 1; }; done";

const verify = {
  commands: [
    { name: "tests", command: "node --test", timeoutMs: 120_000 },
    { name: "title", command: titles },
  ],
  onFailure: "retry_once",
};

/** Starts the three subagents with one call. */
export const PAPERS_PROMPT = `Have three subagents write what this project lacks. Call the tool task once, with these arguments: ${JSON.stringify({ tasks, isolated: true, verify })}. Write nothing yourself.`;

const fixed = "The number of days in a month comes out right again, and with it the invoices.";

/** The scripted model's next step if the conversation is about the three files. */
export function writePapers(request: ScenarioRequest): Turn | undefined {
  const { lastUserText, toolResults } = request;
  const hasActed = toolResults.length > 0;
  if (lastUserText === PAPERS_PROMPT) {
    if (!hasActed) {
      return turn(["Three at once, then.", toolCall("task", { tasks, isolated: true, verify })]);
    }
    const hasFailed = toolResults.some(({ text }) => /Verification: (?!passed)/.test(text));
    return hasFailed
      ? turn("Not all of them passed their checks; what failed was not merged.")
      : turn("All three came back, each after its checks had passed.");
  }
  if (lastUserText.startsWith("Your work was checked")) return repairChanges(hasActed);
  const id = tasks.find(({ task }) => lastUserText.startsWith(task))?.id;
  if (id === "changes") return writeChanges(hasActed);
  if (id === "guide") return writeGuide(request);
  return id === "map" ? writeMap(request) : undefined;
}

/** Forgets the title, so verification sends it back. */
function writeChanges(hasWritten: boolean): Turn {
  if (hasWritten) return turn("I wrote it.");
  return turn(toolCall("write", { path: "CHANGES.md", content: `- ${fixed}\n` }));
}

function repairChanges(hasActed: boolean): Turn {
  if (hasActed) return turn("Now it has its title.");
  const edit = { path: "CHANGES.md", oldText: "- ", newText: "# Changes\n\n- " };
  return turn(["The title is missing.", toolCall("edit", edit)]);
}

function writeGuide(request: ScenarioRequest): Turn {
  const done = doneCalls(request);
  const manifest = done.find(({ name }) => name === "read");
  if (manifest === undefined) return turn(toolCall("read", { path: "package.json" }));
  if (done.some(({ name }) => name === "write")) return turn("I wrote it.");
  const command = /"test": *"([^"]+)"/.exec(manifest.text)?.[1] ?? "node --test";
  const content = `# Contributing\n\n\`npm test\` runs the tests (\`${command}\`).\n`;
  return turn(toolCall("write", { path: "CONTRIBUTING.md", content }));
}

function writeMap(request: ScenarioRequest): Turn {
  const done = doneCalls(request);
  const list = done.find(({ name }) => name === "ls");
  if (list === undefined) return turn(toolCall("ls", { path: "src" }));
  if (done.some(({ name }) => name === "write")) return turn("I wrote it.");
  const names = list.text.split("\n").filter((line) => /^[\w.-]+\.\w+$/.test(line));
  const lines = names.map((name) => `- \`src/${name}\`: about ${name.replace(/\.\w+$/, "")}`);
  const content = `# Files\n\n${lines.join("\n")}\n`;
  return turn(toolCall("write", { path: "FILES.md", content }));
}
