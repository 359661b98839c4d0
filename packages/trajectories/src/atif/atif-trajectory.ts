import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, type JsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import { VERSION } from "@tau-agent/system";
import type { SubagentSource, TrajectorySource } from "../trajectory-source.ts";
import {
  ATIF_VERSION,
  type AtifResult,
  type AtifStep,
  type AtifToolDefinition,
  type AtifTrajectory,
} from "./atif.ts";
import { sumMetrics } from "./metrics.ts";
import { StepBuilder, unusedName } from "./steps.ts";

type References = NonNullable<AtifResult["subagent_trajectory_ref"]>[number];

/**
 * The current branch of a session, with its subagents, as one trajectory.
 *
 * @throws {SessionError} `nothing_to_export`
 */
async function atifTrajectory(source: TrajectorySource): Promise<AtifTrajectory> {
  const made = await trajectoryOf(source, source.header.id, new Set());
  if (made === undefined) throw new SessionError("nothing_to_export");
  return made;
}

/** @param places - the places of the sessions that are already in the document or contain this one */
async function trajectoryOf(
  source: TrajectorySource,
  trajectoryId: string,
  places: Set<string>,
): Promise<AtifTrajectory | undefined> {
  const builder = new StepBuilder();
  const subagents = new Subagents(source, places);
  if (source.systemPrompt) {
    builder.steps.push({ step_id: 1, source: "system", message: source.systemPrompt });
  }
  for (const entry of source.branch) {
    const answered = builder.add(entry);
    if (answered === undefined) continue;
    const references = await subagents.readAll(answered.message);
    if (references.length > 0) answered.result.subagent_trajectory_ref = references;
  }
  const { steps, modelName } = builder;
  if (steps.every(({ source: by }) => by === "system")) return undefined;
  return {
    schema_version: ATIF_VERSION,
    session_id: source.header.id,
    trajectory_id: trajectoryId,
    agent: agentOf(source, modelName),
    steps,
    ...notesOf(source),
    final_metrics: sumMetrics(steps, source.costUsd),
    ...(subagents.embedded.length > 0 && { subagent_trajectories: subagents.embedded }),
  };
}

function agentOf(
  { header, name, tools = [] }: TrajectorySource,
  modelName: string | undefined,
): AtifTrajectory["agent"] {
  return {
    name: "tau",
    version: VERSION,
    ...(modelName !== undefined && { model_name: modelName }),
    ...(tools.length > 0 && { tool_definitions: tools.map(definitionOf) }),
    extra: { cwd: header.cwd, ...(name !== undefined && { session_name: name }) },
  };
}

function definitionOf({
  name,
  description,
  parameters,
}: NonNullable<TrajectorySource["tools"]>[number]): AtifToolDefinition {
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parameters }),
    },
  };
}

function notesOf({ otherEntries }: TrajectorySource): Pick<AtifTrajectory, "notes"> {
  if (otherEntries === 0) return {};
  const count = otherEntries === 1 ? "One entry" : `${otherEntries} entries`;
  return { notes: `${count} on other branches of the session left out.` };
}

/** The subagents of one session. Each is embedded once: a session may name itself, or the same subagent twice. */
class Subagents {
  readonly embedded: AtifTrajectory[] = [];
  readonly #source: TrajectorySource;
  readonly #places: Set<string>;
  readonly #ids = new Set<string>();
  readonly #own = new Map<string, AtifTrajectory>();

  constructor(source: TrajectorySource, places: Set<string>) {
    this.#source = source;
    this.#places = places;
  }

  /** References to the subagents that the details of a result name. */
  async readAll({ details }: ToolResultMessage): Promise<References[]> {
    const results = isJsonObject(details) && Array.isArray(details.results) ? details.results : [];
    const references: References[] = [];
    for (const result of results.filter(isJsonObject)) {
      const found = await this.#read(result);
      if (found === undefined) continue;
      const { trajectory_id, session_id } = found;
      const { id, agent, description, status } = result;
      const extra = { id, agent, description, status };
      references.push({ trajectory_id, session_id, extra });
    }
    return references;
  }

  async #read(result: JsonObject): Promise<AtifTrajectory | undefined> {
    const name = {
      sessionFile: textOf(result.sessionFile),
      storedSession: textOf(result.storedSession),
    };
    if (name.sessionFile === undefined && name.storedSession === undefined) return undefined;
    const found = await this.#source.readSubagent?.(name);
    if (found === undefined) return undefined;
    const known = this.#own.get(found.place);
    return known ?? this.#embed(found);
  }

  async #embed(found: SubagentSource): Promise<AtifTrajectory | undefined> {
    if (this.#places.has(found.place)) return undefined;
    this.#places.add(found.place);
    const id = unusedName(found.header.id, this.#ids);
    const made = await trajectoryOf(found, id, this.#places);
    if (made === undefined) return undefined;
    this.#own.set(found.place, made);
    this.embedded.push(made);
    return made;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

const listed = new Set(["steps", "subagent_trajectories"]);

/** The trajectory as JSON, in pieces: a long one does not fit in one string. */
export async function* atifPieces(source: TrajectorySource): AsyncGenerator<string> {
  yield* piecesOf(await atifTrajectory(source));
  yield "\n";
}

function* piecesOf(trajectory: AtifTrajectory): Generator<string> {
  let before = "{\n";
  for (const [name, value] of Object.entries(trajectory)) {
    yield `${before}${JSON.stringify(name)}: `;
    before = ",\n";
    if (listed.has(name)) yield* pieces(value as readonly (AtifStep | AtifTrajectory)[]);
    else yield json(value);
  }
  yield "\n}";
}

function* pieces(list: readonly (AtifStep | AtifTrajectory)[]): Generator<string> {
  let before = "[\n";
  for (const item of list) {
    yield before;
    before = ",\n";
    if ("steps" in item) yield* piecesOf(item);
    else yield json(item);
  }
  yield "\n]";
}

/** Half of a surrogate pair: JSON allows it, but readers in other languages refuse it. */
const loneSurrogate = /(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][\da-f]{2}/g;

function json(value: unknown): string {
  return JSON.stringify(value).replace(loneSurrogate, "\\ufffd");
}
