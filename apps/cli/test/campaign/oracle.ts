import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RoundPlan } from "./plans.ts";
import { isolatedFiles, type PlannedCall } from "./work.ts";

export interface Entry {
  readonly type?: unknown;
  readonly message?: {
    readonly role?: unknown;
    readonly toolCallId?: string;
    readonly toolName?: string;
    readonly isError?: boolean;
    readonly details?: { readonly interrupted?: boolean; readonly left?: readonly string[] };
    readonly content?: unknown;
  };
}

type Result = NonNullable<Entry["message"]>;

/** Everything that is known at the end of a round. */
export interface Outcome {
  readonly plan: RoundPlan;
  readonly folder: string;
  readonly entries: readonly Entry[];
  readonly requests: number;
  readonly crashes: number;
  readonly status: string;
}

function countIn(path: string, word: string): number {
  if (!existsSync(path)) return 0;
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line === word).length;
}

const text = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/** Describes the guarantees that a round has violated. */
export function brokenPromises(outcome: Outcome): string[] {
  const { plan, folder, entries, requests, crashes, status } = outcome;
  const { work } = plan;
  const broken: string[] = [];
  const say = (isKept: boolean, words: string) => void (isKept || broken.push(words));
  const results = entries.flatMap(({ message }) =>
    message?.role === "toolResult" ? [message] : [],
  );
  for (const call of work.flat()) {
    const own = results.filter(({ toolCallId }) => toolCallId === call.id);
    say(own.length === 1, `${call.id} has ${own.length} results`);
    const [result] = own;
    if (result === undefined) continue;
    for (const words of effectsOf(call, result, { folder, plan })) {
      broken.push(
        `${call.kind} ${call.id} ${result.details?.interrupted ? "(interrupted)" : "(done)"}: ${words}; its result: ${JSON.stringify(result.content).slice(0, 200)}`,
      );
    }
    const shown = JSON.stringify(result.content);
    say(!(plan.isAdopted && result.isError), `G2 ${call.id} is not gone on with: ${shown}`);
    const isWhole = call.kind !== "slow" || result.isError === true;
    for (const at of isWhole ? [] : [1, 2, 3, 4, 5, 6]) {
      say(shown.split(`${call.mark} ${at}`).length === 2, `G2 ${call.id}: its output is not whole`);
    }
  }
  say(status === "completed", `G4 the prompt ended as ${status}`);
  const replies = entries.filter(({ message }) => message?.role === "assistant").length;
  const tasks = work.flat().filter(({ kind }) => kind === "task" || kind === "isolated").length;
  const summaries = entries.filter(({ type }) => type === "compaction").length;
  const own = summaries === 0 ? 0 : summaries + crashes;
  const most = replies + crashes + tasks * (2 + crashes) + own;
  say(requests <= most, `G5 ${requests} requests for ${replies} replies, ${crashes} crashes`);
  return broken;
}

function effectsOf(
  { kind, mark }: PlannedCall,
  { details, isError, content }: Result,
  { folder, plan }: Pick<Outcome, "folder" | "plan">,
): string[] {
  const { isFar, durabilityAdoptMs, fault } = plan;
  const isInterrupted = details?.interrupted === true;
  // Either the connection to the workspace was lost before the call arrived, or the disk was too full for its effect.
  const isLost = (isFar || fault === "disk") && isError === true && !isInterrupted;
  if (isLost && kind !== "append" && kind !== "slow") return [];
  // Effects that are not recorded, or that cannot be told apart from those of others, may occur once.
  const isNamed = isInterrupted && (details?.left ?? []).length > 0;
  // A shell line that finds the disk full continues with its next command and reports the error.
  const foundNoSpace = kind === "slow" || JSON.stringify(content).includes("No space left");
  const isPart = fault === "disk" && !isInterrupted && foundNoSpace;
  const isOpen = isNamed || isLost || isPart || (isFar && isInterrupted);
  const wanted = isInterrupted ? 0 : 1;
  const at = (name: string) => join(folder, name);
  const wrong: string[] = [];
  const say = (isKept: boolean, words: string) => void (isKept || wrong.push(words));
  switch (kind) {
    case "append":
    case "slow": {
      const lines = countIn(at("log"), mark);
      say(lines === wanted || (isOpen && lines <= 1), `G1 its line is ${lines} times in the log`);
      const after = existsSync(at(`after-${mark}`)) ? 1 : 0;
      if (kind === "slow") say(after === wanted || isOpen, "G1 its last file");
      break;
    }
    case "write":
      say((text(at(`new/${mark}`)) === mark) === !isInterrupted, "G1 its new file");
      break;
    case "replace":
      say(text(at(`old-${mark}`)) === (isInterrupted ? "old" : mark), "G1 its replaced file");
      break;
    case "edit": {
      const now = text(at("text")) ?? "";
      say(now.includes(`${isInterrupted ? "before" : "after"} ${mark}\n`), "G1 its edit");
      break;
    }
    case "task": {
      const [lines, ends] = [countIn(at("log"), mark), countIn(at("done"), mark)];
      say(lines <= 1, `G2 the subagent's line is ${lines} times in the log`);
      say(lines === ends || isFar || fault === "disk", "G1 the subagent's call left half");
      if (!isInterrupted && !isFar && fault !== "disk")
        say(lines === 1, "G1 the subagent's line is missing");
      break;
    }
    case "job": {
      const [lines, ends] = [countIn(at("jobs"), mark), countIn(at("jobs-done"), mark)];
      // The job may find the disk full, and its error is not visible here.
      if (fault === "disk") {
        say(Math.max(lines, ends) <= 1, `G2 its job began ${lines} times and ended ${ends} times`);
        break;
      }
      say(lines === wanted || (isOpen && lines <= 1), `G1 its job began ${lines} times`);
      say(ends <= lines, `G2 its job ended ${ends} times`);
      if (!isInterrupted && durabilityAdoptMs > 1) say(ends === 1, "G2 its job has not ended");
      break;
    }
    case "question":
      say(!isInterrupted && JSON.stringify(content).includes(`left ${mark}`), "G4 its answer");
      break;
    case "isolated": {
      const names = isolatedFiles(mark);
      // On a full disk, the shell commands leave empty files or none. Only what the result reports as changed
      // must have come back.
      const isFull = fault === "disk";
      const isThere = (name: string) =>
        isFull ? existsSync(at(name)) : text(at(name)) === `${mark}\n`;
      const said = Number(/Changes: (\d+) file/.exec(JSON.stringify(content))?.[1] ?? 0);
      const whole = names.filter(isThere).length;
      const isKept = whole === (isInterrupted || isError ? 0 : isFull ? said : names.length);
      // Files of a remote folder are not recorded; the result says so.
      say(isKept || (isFar && isInterrupted), `G1 ${whole} files of 4 came back`);
      break;
    }
    case "look":
      say(!isInterrupted, "G6 a call that only reads is interrupted");
  }
  return wrong;
}
