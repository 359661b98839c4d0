import {
  type Scenario,
  type ScenarioRequest,
  type ScriptedBlock,
  type Turn,
  turn,
} from "@tau-agent/ai/testing";

const SUMMARY = `## Goal\nMake the tests pass.\n\n## Progress\n${"- A step of the work that is done, with the file and what changed in it.\n".repeat(24)}`;

/** What the model says in the conversation that a trajectory leads, in order, and elsewhere. */
export class Script {
  #turns: Turn[] = [];
  /** What a subagent says, from its request; undefined for requests of the main conversation. */
  aside: ((request: ScenarioRequest) => Turn | undefined) | undefined;

  /** Adds to what is said next. */
  add(...turns: readonly Turn[]): void {
    this.#turns.push(...turns);
  }

  /** What nobody has asked for. */
  get left(): number {
    return this.#turns.length;
  }

  readonly scenario: Scenario = (request) => {
    if (isSummary(request)) return turn(SUMMARY);
    return this.aside?.(request) ?? this.#turns.shift() ?? turn("Done.");
  };
}

/** Hosts ask for summaries without tools, or in words of their own; no prompt of a trajectory says so. */
function isSummary({ tools, lastUserText, systemPrompt }: ScenarioRequest): boolean {
  if (/summar/i.test(lastUserText.slice(-4_000))) return true;
  return tools.length === 0 && /summar/i.test(systemPrompt);
}

/** So many characters of prose, different for each number. */
export function prose(characters: number, number = 0): string {
  const words = "check read change value list parse test case name field error line call result";
  const list = words.split(" ");
  let text = "";
  for (let at = 0; text.length < characters; at++) {
    text += `${list[(at * 7 + number * 3 + (at % 5)) % list.length]} `;
  }
  return text.slice(0, characters);
}

/** A turn of a little text and calls. */
export function step(number: number, ...calls: readonly ScriptedBlock[]): Turn {
  return turn([prose(160, number), ...calls]);
}

/** A turn that ends the run. */
export function answer(number: number, characters = 600): Turn {
  return turn(prose(characters, number));
}
