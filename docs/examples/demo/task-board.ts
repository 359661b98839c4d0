import { dim, green, red } from "./screen.ts";
import type { Stage } from "./stage.ts";

const ID_COLUMNS = 10;
const ACTIVITY_COLUMNS = 12;
const CHECKS_COLUMNS = 38;

/** A check of a task's work. */
export interface Check {
  readonly name: string;
  readonly attempt: number;
  readonly hasPassed: boolean;
}

interface Row {
  activity: string;
  readonly checks: Check[];
  outcome: string;
}

/** Several tasks side by side: a row each that is drawn again, or a line for each change in a pipe. */
export class TaskBoard {
  readonly #stage: Stage;
  readonly #rows = new Map<string, Row>();
  #isDrawn = false;

  constructor(stage: Stage, ids: readonly string[]) {
    this.#stage = stage;
    for (const id of ids) this.#rows.set(id, { activity: "waiting", checks: [], outcome: "" });
    if (stage.isLive) this.#draw();
  }

  /** What a task does now. */
  setActivity(id: string, activity: string): void {
    const row = this.#rows.get(id);
    if (row === undefined || row.activity === activity) return;
    row.activity = activity;
    this.#show(id, activity);
  }

  addCheck(id: string, check: Check): void {
    this.#rows.get(id)?.checks.push(check);
    const { name, attempt, hasPassed } = check;
    this.#show(id, `attempt ${attempt}: ${name} ${hasPassed ? "passes" : "fails"}`);
  }

  setOutcome(id: string, outcome: string): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    row.outcome = outcome;
    row.activity = "back";
    this.#show(id, outcome);
  }

  #show(id: string, words: string): void {
    if (this.#stage.isLive) this.#draw();
    else console.log(`  ${id.padEnd(ID_COLUMNS)}${words}`);
  }

  #draw(): void {
    const lines = [...this.#rows].map(([id, row]) => this.#line(id, row));
    const up = this.#isDrawn ? `\u001b[${lines.length}A` : "";
    process.stdout.write(up + lines.map((line) => `\u001b[2K${line}\n`).join(""));
    this.#isDrawn = true;
  }

  #line(id: string, { activity, checks, outcome }: Row): string {
    const start = `  ${id.padEnd(ID_COLUMNS)}${activity.padEnd(ACTIVITY_COLUMNS)}`;
    const width = Math.max(0, this.#stage.columns - start.length - 1);
    // Measured without colours, which take no room.
    const plain = checks.map(({ name, hasPassed }) => `${hasPassed ? "✔" : "✖"} ${name}`);
    const taken = plain.join("  ").length;
    if (taken > width) return start;
    const painted = plain.map((text) => (text.startsWith("✔") ? green(text) : red(text)));
    const gap = " ".repeat(Math.min(width - taken, Math.max(2, CHECKS_COLUMNS - taken)));
    const rest = width - taken - gap.length;
    return start + painted.join("  ") + gap + dim(outcome.slice(0, rest));
  }
}
