/** Kills and pauses hosts at steps that a seed chooses, and checks the promises (decision 63). */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startCampaignServer } from "./campaign-server.ts";
import { mutants } from "./mutants.ts";
import { playRound, type RoundResult } from "./round.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string" },
    parallel: { type: "string", default: "2" },
    mutant: { type: "string" },
    scenario: { type: "string" },
    seconds: { type: "string" },
    confirm: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
const { mutant, scenario } = values;
if (mutant !== undefined && !Object.hasOwn(mutants, mutant)) {
  throw new Error(`There is no mutant ${mutant}; there are ${Object.keys(mutants).join(", ")}`);
}
if (mutant !== undefined) refuseLost(mutant);
const deadline = performance.now() + Number(values.seconds ?? "1e9") * 1_000;

await using server = await startCampaignServer();

/** A mechanism that the build has another text for cannot be taken out. */
function refuseLost(name: string): void {
  const dist = new URL("../../dist/", import.meta.url);
  const texts = readdirSync(dist).map((file) =>
    /\.js$/.test(file) ? readFileSync(new URL(file, dist), "utf8") : "",
  );
  if (!texts.some((text) => mutants[name]?.find.test(text))) {
    throw new Error(`The build has no ${name} as mutants.ts describes it`);
  }
}

let started = 0;
const results: RoundResult[] = [];
const broken = () => results.filter((result) => result.broken.length > 0);
async function play(): Promise<void> {
  while (started < rounds && performance.now() < deadline) {
    if (mutant !== undefined && broken().length > 0) return;
    const result = await playSeed(seed + started++);
    results.push(result);
    if (process.stderr.isTTY || process.env.TAU_CAMPAIGN_PROGRESS)
      process.stderr.write(`${results.length} `);
    for (const words of result.broken) {
      process.stdout.write(
        `seed ${result.seed} (${result.scenario}, ${result.fault} at ${result.step}): ${words}\n`,
      );
    }
  }
}

async function playSeed(own: number): Promise<RoundResult> {
  return playRound(own, server, { mutant, scenario }).catch((error: unknown) => {
    const nothing = { scenario: scenario ?? "", fault: "", step: "", crashes: 0 };
    return { seed: own, ...nothing, broken: [String(error)] };
  });
}

/** Plays the broken rounds again, one after the other: a busy machine breaks no promise twice. */
async function confirm(): Promise<void> {
  for (const { seed: own } of broken()) {
    const again = await playSeed(own);
    const verdict = again.broken.length > 0 ? "broke again" : "did not break again";
    process.stdout.write(`seed ${own} ${verdict}\n`);
    results[results.findIndex((result) => result.seed === own)] = again;
  }
}
const began = performance.now();
await Promise.all(Array.from({ length: Number(values.parallel) }, play));
if (values.confirm) await confirm();
const crashes = results.reduce((sum, result) => sum + result.crashes, 0);
const seconds = Math.round((performance.now() - began) / 1_000);
process.stdout.write(
  `${results.length} rounds from seed ${seed}, ${crashes} crashes, ${broken().length} with broken promises, ${seconds} s\n`,
);
// Nothing that a round left keeps the run.
process.exit(broken().length > 0 === (mutant === undefined) ? 1 : 0);
