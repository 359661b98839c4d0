import {
  type Scenario,
  type ScenarioRequest,
  type ScriptedBlock,
  type Turn,
  turn,
} from "@tau-agent/ai/testing";

const SUMMARY = `## Goal\nMake the tests pass.\n\n## Progress\n${"- A step of the work that is done, with the file and what changed in it.\n".repeat(24)}`;

/** The model's replies, in order, for the main conversation of a trajectory, and for its subagents. */
export class Script {
  #turns: Turn[] = [];
  /** The reply to a subagent's request; undefined for requests of the main conversation. */
  aside: ((request: ScenarioRequest) => Turn | undefined) | undefined;

  /** Appends replies. */
  add(...turns: readonly Turn[]): void {
    this.#turns.push(...turns);
  }

  /** The number of replies that no request has used. */
  get left(): number {
    return this.#turns.length;
  }

  readonly scenario: Scenario = (request) => {
    if (isSummary(request)) return turn(SUMMARY);
    return this.aside?.(request) ?? this.#turns.shift() ?? turn("Done.");
  };
}

/**
 * Hosts request summaries without tools or with a prompt of their own; no prompt of a trajectory contains the word.
 */
function isSummary({ tools, lastUserText, systemPrompt }: ScenarioRequest): boolean {
  if (/summar/i.test(lastUserText.slice(-4_000))) return true;
  return tools.length === 0 && /summar/i.test(systemPrompt);
}

/** Prose of this length, different for each number. */
export function prose(characters: number, number = 0): string {
  const words = "check read change value list parse test case name field error line call result";
  const list = words.split(" ");
  let text = "";
  for (let at = 0; text.length < characters; at++) {
    text += `${list[(at * 7 + number * 3 + (at % 5)) % list.length]} `;
  }
  return text.slice(0, characters);
}

/** A turn with a short text and tool calls. */
export function step(number: number, ...calls: readonly ScriptedBlock[]): Turn {
  return turn([prose(160, number), ...calls]);
}

/** A turn that ends the run. */
export function answer(number: number, characters = 600): Turn {
  return turn(prose(characters, number));
}
