import { fileURLToPath } from "node:url";
import {
  type LoopbackApi,
  type LoopbackServer,
  loadScenario,
  type Scenario,
  scriptedModel,
  startLoopbackServer,
  type Turn,
} from "@tau-agent/ai/testing";
import { dataFolder } from "../transcripts/data-folder.ts";
import type { TranscriptSetup } from "../transcripts/transcript.ts";
import type { ModelSource } from "./place.ts";

export async function startModelServer(setup: TranscriptSetup): Promise<LoopbackServer> {
  return startLoopbackServer({ scenario: await scenarioOf(setup), records: false });
}

async function scenarioOf({ model, scenario = [] }: TranscriptSetup): Promise<Scenario> {
  if (model !== undefined) {
    return loadScenario(fileURLToPath(new URL(`models/${model}`, dataFolder)));
  }
  return scenario.map((turn) => (typeof turn === "string" ? turn : withoutRetries(turn)));
}

/** A scripted failure happens once: a vendor's library that retries would use up the next turn. */
function withoutRetries(turn: Turn): Turn {
  const { fault } = turn;
  if (fault?.kind !== "status") return turn;
  return { ...turn, fault: { ...fault, headers: { "x-should-retry": "false", ...fault.headers } } };
}

/** How any pi-compatible host finds the model: as a provider in its models.json. */
export function servedModel(server: LoopbackServer, api: LoopbackApi): ModelSource {
  const { api: _, provider: __, baseUrl: ___, ...model } = scriptedModel();
  const provider = { baseUrl: server.urls[api], api, apiKey: "conformance", models: [model] };
  return {
    arguments: ["--provider", "conformance", "--model", "scenario"],
    files: { "agent/models.json": JSON.stringify({ providers: { conformance: provider } }) },
  };
}
