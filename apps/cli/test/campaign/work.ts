import { type Scenario, type ScriptedBlock, toolCall, turn } from "@tau-agent/ai/testing";
import type { Random } from "../../../../packages/ai/test/chaos/random.ts";

/** What a call does, and how its effect is counted. */
type Kind = "append" | "slow" | "write" | "replace" | "edit" | "look" | "task";

export interface PlannedCall {
  readonly id: string;
  readonly kind: Kind;
  /** Its mark in the files, unique in the round. */
  readonly mark: string;
}

/** The replies of a round's model: each is some calls, and the last one is a text. */
export type Work = readonly (readonly PlannedCall[])[];

const kinds: readonly [Kind, ...Kind[]] = [
  ...(["append", "slow", "write", "replace"] as const),
  ...(["edit", "look", "append", "task"] as const),
];

export function planWork(random: Random): Work {
  return Array.from({ length: 2 + random.below(3) }, (_, step) =>
    Array.from({ length: 1 + random.below(2) }, (_, at) => {
      const mark = `m${step}x${at}`;
      return { id: `call-${mark}`, kind: random.pick(kinds), mark };
    }),
  );
}

function blockOf({ id, kind, mark }: PlannedCall): ScriptedBlock {
  const options = { id };
  const bash = (command: string) => toolCall("bash", { command }, options);
  switch (kind) {
    case "append":
      return bash(`echo ${mark} >> log; echo did ${mark}`);
    case "slow":
      return bash(
        `echo ${mark} >> log; for i in 1 2 3 4 5 6; do echo ${mark} $i; sleep 0.05; done; touch after-${mark}`,
      );
    case "write":
      return toolCall("write", { path: `new/${mark}`, content: mark }, options);
    case "replace":
      return toolCall("write", { path: `old-${mark}`, content: mark }, options);
    case "edit":
      return toolCall(
        "edit",
        { path: "text", oldText: `before ${mark}`, newText: `after ${mark}` },
        options,
      );
    case "look":
      return bash("cat text");
    case "task":
      return toolCall("task", { task: `append ${mark}` }, options);
  }
}

/** A model for all rounds: its id says which. It decides by what it is shown, so it may be asked again. */
export function scenarioOf(workOf: (model: string) => Work): Scenario {
  return ({ model, messages, lastUserText }) => {
    const said = messages.filter(({ role }) => role === "assistant").length;
    const own = /append (m\d+x\d+)/.exec(lastUserText)?.[1];
    if (own !== undefined) {
      const command = `echo ${own} >> log; sleep 0.1; echo ${own} >> done`;
      return said === 0 ? turn(toolCall("bash", { command }, { id: `sub-${own}` })) : "appended";
    }
    const calls = workOf(model)[said];
    return calls === undefined ? "finished" : turn(calls.map(blockOf));
  };
}
