import * as z from "zod/mini";

/**
 * The rules of the Agent Trajectory Interchange Format 1.7, as its RFC and the models of Harbor 0.22.0 have them
 * (harbor-framework/harbor at 39b85872597ea710077d8c93095059bca3ca4ed2, `rfcs/0001-trajectory-format.md` and
 * `src/harbor/models/trajectories/`). Harbor, too, refuses unknown members.
 */
const extra = z.optional(z.record(z.string(), z.unknown()));
const count = z.optional(z.int().check(z.gte(0)));
const money = z.optional(z.number().check(z.gte(0)));

/** Accepts what Python's `datetime.fromisoformat` accepts, which knows the years 1 to 9999. */
const timestamp = z.optional(z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)));

const part = z.union([
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({
    type: z.literal("image"),
    source: z.strictObject({
      media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      path: z.string(),
    }),
  }),
]);
const content = z.union([z.string(), z.array(part)]);

const reference = z.strictObject({
  trajectory_id: z.optional(z.string()),
  trajectory_path: z.optional(z.string()),
  session_id: z.optional(z.string()),
  extra,
});

const step = z.strictObject({
  step_id: z.int().check(z.gte(1)),
  timestamp,
  source: z.enum(["system", "user", "agent"]),
  model_name: z.optional(z.string()),
  reasoning_effort: z.optional(z.union([z.string(), z.number()])),
  message: content,
  reasoning_content: z.optional(z.string()),
  tool_calls: z.optional(
    z.array(
      z.strictObject({
        tool_call_id: z.string(),
        function_name: z.string(),
        arguments: z.record(z.string(), z.unknown()),
        extra,
      }),
    ),
  ),
  observation: z.optional(
    z.strictObject({
      results: z.array(
        z.strictObject({
          source_call_id: z.optional(z.string()),
          content: z.optional(content),
          subagent_trajectory_ref: z.optional(z.array(reference)),
          extra,
        }),
      ),
    }),
  ),
  metrics: z.optional(
    z.strictObject({
      prompt_tokens: count,
      completion_tokens: count,
      cached_tokens: count,
      cost_usd: money,
      extra,
    }),
  ),
  is_copied_context: z.optional(z.boolean()),
  llm_call_count: count,
  extra,
});
type Step = z.infer<typeof step>;

const trajectory = z.strictObject({
  schema_version: z.literal("ATIF-v1.7"),
  session_id: z.optional(z.string()),
  trajectory_id: z.optional(z.string()),
  agent: z.strictObject({
    name: z.string(),
    version: z.string(),
    model_name: z.optional(z.string()),
    tool_definitions: z.optional(z.array(z.record(z.string(), z.unknown()))),
    extra,
  }),
  steps: z.array(step).check(z.minLength(1)),
  notes: z.optional(z.string()),
  final_metrics: z.optional(
    z.strictObject({
      total_prompt_tokens: count,
      total_completion_tokens: count,
      total_cached_tokens: count,
      total_cost_usd: money,
      total_steps: count,
      extra,
    }),
  ),
  continued_trajectory_ref: z.optional(z.string()),
  extra,
  subagent_trajectories: z.optional(z.array(z.unknown())),
});

const agentOnly = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"] as const;

/** The rules that a text violates; empty for a trajectory that Harbor accepts. */
export function checkAtif(text: string): string[] {
  return checkTrajectory(JSON.parse(text), "trajectory");
}

function checkTrajectory(value: unknown, place: string): string[] {
  const parsed = z.safeParse(trajectory, value);
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => `${place}.${path.join(".")}: ${message}`);
  }
  const { steps, final_metrics: sums, subagent_trajectories: below = [] } = parsed.data;
  const problems: string[] = [];
  const expect = (holds: boolean, rule: string) => holds || problems.push(`${place}: ${rule}`);
  const ids = below.map((each) => Reflect.get(Object(each), "trajectory_id"));
  expect(ids.every((id) => typeof id === "string"), "embedded trajectories have ids");
  expect(new Set(ids).size === ids.length, "the ids of embedded trajectories are unique");
  for (const [index, each] of steps.entries()) {
    const at = `steps[${index}]`;
    expect(each.step_id === index + 1, `${at}: step ids go up by one from 1`);
    expect(
      each.source === "agent" || agentOnly.every((name) => each[name] === undefined),
      `${at}: only agents have a model, reasoning, calls and metrics`,
    );
    expect(
      each.llm_call_count !== 0 || (each.metrics ?? each.reasoning_content) === undefined,
      `${at}: without a request there are no metrics and no reasoning`,
    );
    checkCalls(each, (holds, rule) => expect(holds, `${at}: ${rule}`), ids);
    const { prompt_tokens: prompt = 0, cached_tokens: cached = 0 } = each.metrics ?? {};
    expect(cached <= prompt, `${at}: cached tokens are a part of the prompt's`);
  }
  const sum = (name: "prompt_tokens" | "completion_tokens" | "cached_tokens" | "cost_usd") =>
    steps.reduce((total, { metrics }) => total + (metrics?.[name] ?? 0), 0);
  const near = (one: number, other: number) => Math.abs(one - other) <= 1e-9 * Math.max(1, one);
  expect(near(sums?.total_prompt_tokens ?? 0, sum("prompt_tokens")), "prompt tokens add up");
  expect(near(sums?.total_completion_tokens ?? 0, sum("completion_tokens")), "completion tokens add up");
  expect(near(sums?.total_cached_tokens ?? 0, sum("cached_tokens")), "cached tokens add up");
  expect(near(sums?.total_cost_usd ?? 0, sum("cost_usd")), "cost adds up");
  expect(sums?.total_steps === steps.length, "steps are counted");
  below.forEach((each, index) => {
    problems.push(...checkTrajectory(each, `${place}.subagent_trajectories[${index}]`));
  });
  return problems;
}

/** Each call must have one result, each result its call, and each reference its trajectory. */
function checkCalls(
  { tool_calls: calls = [], observation }: Step,
  expect: (holds: boolean, rule: string) => unknown,
  embedded: readonly unknown[],
): void {
  const ids = calls.map(({ tool_call_id: id }) => id);
  const results = observation?.results ?? [];
  const answered = results.flatMap(({ source_call_id: id }) => id ?? []);
  expect(new Set(ids).size === ids.length, "ids of calls are unique");
  expect(answered.every((id) => ids.includes(id)), "results belong to calls of the step");
  expect(ids.every((id) => answered.filter((other) => other === id).length === 1), "each call has one result");
  for (const { trajectory_id: id, trajectory_path: path } of results.flatMap(
    ({ subagent_trajectory_ref: references = [] }) => references,
  )) {
    expect((id ?? path) !== undefined, "a reference names a trajectory");
    expect(id === undefined || embedded.includes(id), "a reference leads to an embedded trajectory");
  }
}
