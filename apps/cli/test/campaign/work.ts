import { type ScenarioFunction, type ScriptedBlock, toolCall, turn } from "@tau-agent/ai/testing";
import type { Random } from "../../../../packages/ai/test/chaos/random.ts";

/** The kind of a call, which also decides how its effect is counted. */
export type Kind =
  | ("append" | "slow" | "write" | "replace" | "edit" | "look" | "task")
  | ("job" | "question" | "isolated");

export interface PlannedCall {
  readonly id: string;
  readonly kind: Kind;
  /** The call's mark in the files; unique within the round. */
  readonly mark: string;
}

/** The replies of a round's model: each contains some calls, and a final reply is text. */
export type Work = readonly (readonly PlannedCall[])[];

/** Random replies with calls of these kinds. */
export function planWork(random: Random, kinds: readonly [Kind, ...Kind[]]): Work {
  return Array.from({ length: 2 + random.below(3) }, (_, step) =>
    Array.from({ length: 1 + random.below(2) }, (_, at) => planCall(random.pick(kinds), step, at)),
  );
}

/** One reply per kind, each with one call. */
export function planEach(kinds: readonly Kind[]): Work {
  return kinds.map((kind, step) => [planCall(kind, step, 0)]);
}

function planCall(kind: Kind, step: number, at: number): PlannedCall {
  const mark = `m${step}x${at}`;
  return { id: `call-${mark}`, kind, mark };
}

/** The names of the files that an isolated subagent writes. */
export const isolatedFiles = (mark: string): readonly string[] =>
  ["a", "b", "c", "d"].map((name) => `isolated-${mark}/${name}`);

function blockOf({ id, kind, mark }: PlannedCall): ScriptedBlock {
  const call = (name: string, args: Record<string, unknown>) => toolCall(name, args, { id });
  const bash = (command: string, more: object = {}) => call("bash", { command, ...more });
  switch (kind) {
    case "append":
      return bash(`echo ${mark} >> log; echo did ${mark}`);
    case "slow":
      return bash(
        `echo ${mark} >> log; for i in 1 2 3 4 5 6; do echo ${mark} $i; sleep 0.05; done; touch after-${mark}`,
      );
    case "job":
      return bash(`echo ${mark} >> jobs; sleep 0.4; echo ${mark} >> jobs-done`, {
        background: true,
      });
    case "write":
      return call("write", { path: `new/${mark}`, content: mark });
    case "replace":
      return call("write", { path: `old-${mark}`, content: mark });
    case "edit":
      return call("edit", { path: "text", oldText: `before ${mark}`, newText: `after ${mark}` });
    case "look":
      return bash("cat text");
    case "question": {
      const options = [{ label: `left ${mark}` }, { label: `right ${mark}` }];
      return call("ask_user", { questions: [{ question: "Which way?", options }] });
    }
    case "task":
      return call("task", { task: `append ${mark}` });
    case "isolated":
      return call("task", {
        task: `isolated ${mark}`,
        isolated: true,
        verify: { commands: [{ name: "there", command: `test -f isolated-${mark}/d` }] },
      });
  }
}

/** The number of replies that the model has given so far; a summary may have replaced some of them. */
function repliesIn(messages: readonly { readonly role: string }[]): number {
  const summed = /replies so far: (\d+)/.exec(JSON.stringify(messages))?.[1];
  return Number(summed ?? 0) + messages.filter(({ role }) => role === "assistant").length;
}

/**
 * The model of all rounds; its id selects the round. It depends only on the messages it receives, so a
 * request can be repeated.
 */
export function scenarioOf(workOf: (model: string) => Work): ScenarioFunction {
  return ({ model, systemPrompt, messages, lastUserText }) => {
    if (systemPrompt.includes("summaries")) {
      const before = /replies so far: (\d+)/.exec(lastUserText)?.[1] ?? "0";
      const shown = new Set(lastUserText.match(/\bm\d+(?=x\d)/g));
      const last = Math.max(-1, ...[...shown].map((word) => Number(word.slice(1))));
      return `replies so far: ${Math.max(Number(before), last + 1)}`;
    }
    const said = repliesIn(messages);
    const [, what, own] = /(append|isolated) (m\d+x\d+)/.exec(lastUserText) ?? [];
    if (own !== undefined) {
      const command =
        what === "append"
          ? `echo ${own} >> log; sleep 0.1; echo ${own} >> done`
          : `mkdir isolated-${own}; for i in ${isolatedFiles(own).join(" ")}; do echo ${own} > $i; done`;
      return said === 0 ? turn(toolCall("bash", { command }, { id: `sub-${own}` })) : "done";
    }
    const calls = workOf(model)[said];
    return calls === undefined ? "finished" : turn(calls.map(blockOf));
  };
}
