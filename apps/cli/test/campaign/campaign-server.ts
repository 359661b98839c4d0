import { startLoopbackServer } from "@tau-agent/ai/testing";
import { scenarioOf, type Work } from "./work.ts";

/** Serves the models of all rounds, each under its own name. */
export interface CampaignServer extends AsyncDisposable {
  readonly url: string;
  /** Returns the name of a model that performs this work. */
  modelFor(work: Work): string;
  /** The number of requests to a model. */
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
