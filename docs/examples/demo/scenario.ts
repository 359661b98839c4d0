/**
 * The decisions of the demo's scripted model. It knows nothing about the project: it finds the
 * failure in the real test output, follows the imports from there, asks which documented example is
 * broken, and changes one line at a time until the tests pass.
 */
import { type ScenarioRequest, type Turn, toolCall, turn } from "@tau-agent/ai/testing";
import { RECALL_PROMPT } from "./afterwards.ts";
import { cleanUp } from "./cleaning.ts";
import { type DoneCall, doneCalls, parseTestRun, type TestRun } from "./conversation.ts";
import { lookAround } from "./other-root.ts";
import { writePapers } from "./papers.ts";
import { possibleRepairs, type Repair } from "./repairs.ts";
import {
  brokenExamples,
  exampleProbe,
  exportedFunctions,
  localImports,
  type SourceFile,
  type SourceFunction,
} from "./source-files.ts";

const MAX_REPAIRS = 25;
const PROBE = "node --input-type=module <<'END'";

/** What is known so far; rebuilt from the conversation for each request. */
interface Knowledge {
  readonly testCommand: string | undefined;
  readonly runs: readonly TestRun[];
  /** A test run with unreadable output. */
  readonly isUnreadable: boolean;
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly probe: string | undefined;
  readonly hasEdited: boolean;
  readonly hasUntestedEdit: boolean;
}

/** Decides the next step from what the tools returned. */
export default function fixTheTests(request: ScenarioRequest): Turn {
  if (request.lastUserText.startsWith("<conversation>"))
    return say(summarize(request.lastUserText));
  if (request.lastUserText === RECALL_PROMPT) return say(recall(request));
  const other = writePapers(request) ?? cleanUp(request) ?? lookAround(request);
  if (other !== undefined) return other;
  const known = learn(doneCalls(request));
  const { testCommand, runs, hasEdited } = known;
  if (testCommand === undefined) {
    const look = [toolCall("ls", {}), toolCall("read", { path: "package.json" })];
    return say("I'll look at the project and how its tests are run.", ...look);
  }
  const run = runs.at(-1);
  if (known.isUnreadable) {
    return say("The tests printed something I cannot read, so I stop here without a change.");
  }
  if (run === undefined) {
    return say("Now the tests themselves.", toolCall("bash", { command: testCommand }));
  }
  if (run.failed === 0 && !hasEdited) {
    return say(`Nothing to fix: all ${run.passed} tests pass.`);
  }
  return investigate(known, run, testCommand);
}

function investigate(known: Knowledge, run: TestRun, testCommand: string): Turn {
  const failure = known.runs[0]?.failures[0];
  if (failure === undefined) {
    return say("A test fails, but its output names no place I could look at. I changed nothing.");
  }
  const { files, path } = chain(known, failure.file);
  const unread = path.filter((file) => !known.files.has(file));
  if (unread.length > 0) {
    const where = unread.includes(failure.file)
      ? `"${failure.title}" fails at ${failure.file}:${failure.line}: it got ${failure.actual} where it expected ${failure.expected}. Let me read that test.`
      : `The value comes from ${unread.join(" and ")}.`;
    return say(where, ...unread.map((file) => toolCall("read", { path: file })));
  }
  const functions = files.filter((file) => file.path !== failure.file).flatMap(exportedFunctions);
  const hasExamples = functions.some(({ examples }) => examples.length > 0);
  if (known.probe === undefined && hasExamples) {
    const command = `${PROBE}\n${exampleProbe(functions)}\nEND`;
    return say(
      `The failure could come from any of ${functions.map(({ name }) => name).join(", ")}. Their comments give examples; I'll check which of them hold.`,
      toolCall("bash", { command }),
    );
  }
  return repair({ known, run, testCommand, functions });
}

interface Diagnosis {
  readonly known: Knowledge;
  readonly run: TestRun;
  readonly testCommand: string;
  /** The deepest first. */
  readonly functions: readonly SourceFunction[];
}

function repair({ known, run, testCommand, functions }: Diagnosis): Turn {
  const broken = brokenExamples(known.probe ?? "");
  const guilty = functions.filter(({ name }) => broken.has(name));
  // The deepest first: callers of a broken function are broken with it.
  const suspects = guilty.length > 0 ? guilty : functions;
  const repairs = possibleRepairs(suspects).slice(0, MAX_REPAIRS);
  if (known.hasUntestedEdit) {
    return say("Do the tests agree?", toolCall("bash", { command: testCommand }));
  }
  // The first run came before any attempt; every other run judges one.
  const tried = known.runs.length - 1;
  const last = repairs[tried - 1];
  const next = repairs[tried];
  if (last !== undefined && run.failed === 0) return summary(known, run, last, broken);
  if (next === undefined) return giveUp(last, repairs.length);
  const why = broken.get(next.name);
  const words =
    last === undefined
      ? `${why === undefined ? `No documented example is broken, so I suspect ${next.name} in ${next.path}` : `${next.path} breaks its own documentation: ${why}`}. I'll start with line ${next.line}.`
      : `Still ${run.failed} failing, so that was not it. Back, and the next idea, line ${next.line} of ${next.path}.`;
  return say(words, ...editCalls(last, next));
}

/** Reverts the last attempt and tries the next. */
function editCalls(last: Repair | undefined, next: Repair) {
  const redo = { oldText: next.oldText, newText: next.newText };
  if (last === undefined) return [toolCall("edit", { path: next.path, ...redo })];
  const undo = { oldText: last.newText, newText: last.oldText };
  if (last.path !== next.path) {
    return [
      toolCall("edit", { path: last.path, ...undo }),
      toolCall("edit", { path: next.path, ...redo }),
    ];
  }
  const edits =
    last.line === next.line ? [{ oldText: last.newText, newText: next.newText }] : [undo, redo];
  return [toolCall("edit", { path: next.path, edits })];
}

/** When the last attempt is reverted and the tests have run again, none is left. */
function giveUp(last: Repair | undefined, count: number): Turn {
  if (last !== undefined) {
    const undo = { path: last.path, oldText: last.newText, newText: last.oldText };
    return say("That was my last idea; I put the file back.", toolCall("edit", undo));
  }
  return say(
    `I could not find the cause: ${count} changes of a single line did not make the tests pass, and none of them is kept. A real model would get further here.`,
  );
}

function summary(
  known: Knowledge,
  run: TestRun,
  change: Repair,
  broken: ReadonlyMap<string, string>,
): Turn {
  const [first] = known.runs;
  const failure = first?.failures[0];
  const documented = broken.get(change.name);
  return say(
    [
      `All ${run.passed} tests pass; before, ${first?.failed} of ${(first?.passed ?? 0) + (first?.failed ?? 0)} failed.`,
      `The cause was not where it showed: ${failure?.file}:${failure?.line} got ${failure?.actual} and not ${failure?.expected} because of ${change.name} in ${change.path}, line ${change.line}${documented === undefined ? "" : ` (${documented})`}.`,
      `I changed \`${change.oldText.trim()}\` to \`${change.newText.trim()}\`.`,
    ].join("\n"),
  );
}

function learn(calls: readonly DoneCall[]): Knowledge {
  const files = new Map<string, SourceFile>();
  const runs: TestRun[] = [];
  let testCommand: string | undefined;
  let isUnreadable = false;
  let probe: string | undefined;
  let hasUntestedEdit = false;
  for (const { name, args, text } of calls) {
    const command = typeof args.command === "string" ? args.command : "";
    if (name === "read" && args.path === "package.json") testCommand = testScript(text);
    else if (name === "read") files.set(String(args.path), source(String(args.path), text));
    else if (name === "edit") hasUntestedEdit = true;
    else if (command.startsWith(PROBE)) probe = text;
    else if (command === testCommand) {
      hasUntestedEdit = false;
      const run = parseTestRun(text);
      if (run !== undefined) runs.push(run);
      else if (runs.length === 0) isUnreadable = true;
      // A change that breaks the test runner is not a fix either.
      else runs.push({ passed: 0, failed: 1, failures: [] });
    }
  }
  return {
    testCommand,
    runs,
    isUnreadable,
    files,
    probe,
    hasEdited: calls.some(({ name }) => name === "edit"),
    hasUntestedEdit,
  };
}

function source(path: string, text: string): SourceFile {
  return { path, lines: text.split("\n") };
}

function testScript(manifest: string): string {
  try {
    const { scripts } = JSON.parse(manifest) as { scripts?: { test?: string } };
    return scripts?.test ?? "node --test --test-reporter=spec";
  } catch {
    return "node --test --test-reporter=spec";
  }
}

/**
 * The files from the failing test down its imports: the known ones, deepest first, and all paths.
 */
function chain({ files }: Knowledge, start: string): { files: SourceFile[]; path: string[] } {
  const depths = new Map<string, number>();
  const visit = (path: string, depth: number, above: ReadonlySet<string>): void => {
    if ((depths.get(path) ?? -1) >= depth || above.has(path)) return;
    depths.set(path, depth);
    const file = files.get(path);
    const deeper = new Set(above).add(path);
    for (const next of file === undefined ? [] : localImports(file)) visit(next, depth + 1, deeper);
  };
  visit(start, 0, new Set());
  const path = [...depths].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const known = path.map((name) => files.get(name)).filter((file) => file !== undefined);
  return { files: known, path };
}

function say(words: string, ...calls: ReturnType<typeof toolCall>[]): Turn {
  return turn([words, ...calls]);
}

/** A summary of the conversation, made from the conversation itself. */
function summarize(text: string): string {
  const goal = /^\[User\]: (.+)$/m.exec(text)?.[1] ?? "(in the earlier part)";
  const said = [...text.matchAll(/^\[Assistant\]: (.+)$/gm)].map(([, line = ""]) => line);
  // What the demo asks to be told: the cause and the change.
  const findings = said.filter((line) => /" fails at | breaks its own |tests pass/.test(line));
  const done = (findings.length > 0 ? findings : said).map((line) => `- [x] ${line}`).join("\n");
  return `## Goal\n${goal}\n\n## Progress\n### Done\n${done || "- (nothing yet)"}`;
}

/** What the summary says of the cause: the conversation before it is no longer there. */
function recall({ messages }: ScenarioRequest): string {
  const texts = messages.flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.map((block) => (block.type === "text" ? block.text : "")),
  );
  const cause = /\S+ breaks its own documentation: .+? documented [^.\n]+/.exec(texts.join("\n"));
  return cause === null
    ? "The summary does not say."
    : `I no longer have the files, but the summary says it: ${cause[0]}.`;
}
