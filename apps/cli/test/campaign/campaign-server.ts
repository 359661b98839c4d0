import { startLoopbackServer } from "@tau-agent/ai/testing";
import { scenarioOf, type Work } from "./work.ts";

/** The models of rounds, each with a name of its own. */
export interface CampaignServer extends AsyncDisposable {
  readonly url: string;
  /** Returns the name of a model that plays this work. */
  modelFor(work: Work): string;
  /** How often a model was asked. */
  requestsOf(model: string): number;
}

export async function startCampaignServer(): Promise<CampaignServer> {
  const works = new Map<string, Work>();
  const requests = new Map<string, number>();
  const decide = scenarioOf((model) => works.get(model) ?? []);
  const server = await startLoopbackServer({
    records: false,
    rules: false,
    scenario: (request) => {
      requests.set(request.model, (requests.get(request.model) ?? 0) + 1);
      return decide(request);
    },
  });
  return {
    url: server.urls["openai-completions"],
    modelFor: (work) => {
      const model = `round-${works.size}`;
      works.set(model, work);
      return model;
    },
    requestsOf: (model) => requests.get(model) ?? 0,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
