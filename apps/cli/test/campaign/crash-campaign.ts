/** Kills and pauses hosts at steps chosen by a seed, and checks the guarantees (decision 63). */
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Random } from "../../../../packages/ai/test/chaos/random.ts";
import { startCampaignServer } from "./campaign-server.ts";
import { playRounds, type RoundResult } from "./crew.ts";
import { mutants } from "./mutants.ts";
import { groupOf, isLonely, planRound } from "./plans.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string" },
    parallel: { type: "string" },
    mutant: { type: "string" },
    scenario: { type: "string" },
    seconds: { type: "string" },
    alone: { type: "boolean", default: false },
    confirm: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
const { mutant, scenario } = values;
const parallel = Number(values.parallel ?? 2 * availableParallelism());
if (mutant !== undefined && !Object.hasOwn(mutants, mutant)) {
  throw new Error(`There is no mutant ${mutant}; there are ${Object.keys(mutants).join(", ")}`);
}
if (mutant !== undefined) refuseLost(mutant);
const deadline = performance.now() + Number(values.seconds ?? "1e9") * 1_000;

await using server = await startCampaignServer();

/** Fails if the build does not contain the code that the mutant replaces. */
function refuseLost(name: string): void {
  const dist = new URL("../../dist/", import.meta.url);
  const texts = readdirSync(dist).map((file) =>
    /\.js$/.test(file) ? readFileSync(new URL(file, dist), "utf8") : "",
  );
  if (!texts.some((text) => mutants[name]?.find.test(text))) {
    throw new Error(`The build has no ${name} as mutants.ts describes it`);
  }
}

/** Groups rounds that run together. Rounds of a group share hosts if they can, except in every fourth group. */
function planParties(): number[][] {
  const parties: number[][] = [];
  const shared = new Map<number, number[]>();
  for (let own = seed; own < seed + rounds; own += 1) {
    const group = groupOf(own);
    const plan = planRound(own, new Random(own), scenario);
    const party = values.alone || group % 4 === 3 || isLonely(plan) ? undefined : shared.get(group);
    party?.push(own);
    if (party !== undefined) continue;
    const begun = [own];
    parties.push(begun);
    if (!isLonely(plan)) shared.set(group, begun);
  }
  return parties;
}

const parties = planParties();
const results: RoundResult[] = [];
let shared = 0;
const broken = () => results.filter((result) => result.broken.length > 0);

async function play(): Promise<void> {
  while (performance.now() < deadline) {
    if (mutant !== undefined && broken().length > 0) return;
    const party = parties.shift();
    if (party === undefined) return;
    const played = await playSeeds(party);
    results.push(...played);
    if (party.length > 1) shared += party.length;
    if (process.stderr.isTTY || process.env.TAU_CAMPAIGN_PROGRESS)
      process.stderr.write(`${results.length} `);
    for (const result of played) tell(result, party);
  }
}

function tell(result: RoundResult, party: readonly number[]): void {
  const [own = 0] = party;
  const length = (party.at(-1) ?? own) + 1 - own;
  const beside = party.length > 1 ? `, --seed ${own} --rounds ${length}` : "";
  for (const words of result.broken) {
    process.stdout.write(
      `seed ${result.seed} (${result.scenario}, ${result.fault} at ${result.step}${beside}): ${words}\n`,
    );
  }
}

async function playSeeds(party: readonly number[]): Promise<RoundResult[]> {
  return playRounds(party, server, { mutant, scenario }).catch((error: unknown) => {
    const nothing = { scenario: scenario ?? "", fault: "", step: "", crashes: 0 };
    return party.map((own) => ({ seed: own, ...nothing, broken: [String(error)] }));
  });
}

/** Repeats the failed rounds one at a time, to exclude failures that a busy machine has caused. */
async function confirm(): Promise<void> {
  for (const { seed: own } of broken()) {
    const [again] = await playSeeds([own]);
    if (again === undefined) continue;
    const verdict = again.broken.length > 0 ? "broke again" : "did not break again";
    process.stdout.write(`seed ${own} ${verdict}\n`);
    results[results.findIndex((result) => result.seed === own)] = again;
  }
}

const began = performance.now();
await Promise.all(Array.from({ length: parallel }, play));
if (values.confirm) await confirm();
const crashes = results.reduce((sum, result) => sum + result.crashes, 0);
const seconds = Math.round((performance.now() - began) / 1_000);
process.stdout.write(
  `${results.length} rounds from seed ${seed}, ${shared} of them with shared hosts, ${crashes} crashes, ${broken().length} with broken promises, ${seconds} s\n`,
);
// Handles that a round has left open must not keep the process alive.
process.exit(broken().length > 0 === (mutant === undefined) ? 1 : 0);
