import { type Fault, type Scenario, startLoopbackServer } from "@tau-agent/ai/testing";
import { onTestFinished } from "vitest";

/** The replies of two vendors; `fault` is the error for each request to the first. */
interface Vendors {
  readonly first: Scenario;
  readonly second: Scenario;
  readonly fault?: ((index: number) => Fault | undefined) | undefined;
  /** The keys that both vendors accept; any by default. */
  readonly keys?: readonly string[] | undefined;
}

/** Two local vendors, with a `models.json` that has a model of each: `first/one` and `second/one`. */
export async function twoVendors({ first, second, fault, keys }: Vendors) {
  const start = async (scenario: Scenario, faultOf: Vendors["fault"]) => {
    const server = await startLoopbackServer({
      scenario,
      faults: (index) => {
        const key = String(server.requests[index]?.headers.authorization).replace("Bearer ", "");
        if (keys !== undefined && !keys.includes(key)) {
          return { kind: "status", status: 401, message: `Incorrect API key provided: ${key}` };
        }
        return faultOf?.(index);
      },
    });
    onTestFinished(() => server.close());
    return server;
  };
  const servers = { first: await start(first, fault), second: await start(second, undefined) };
  const providers = Object.fromEntries(
    Object.entries(servers).map(([name, { urls }]) => [
      name,
      {
        baseUrl: urls["openai-completions"],
        api: "openai-completions",
        apiKey: "of-models-json",
        models: [{ id: "one" }],
      },
    ]),
  );
  const settings = { retry: { baseDelayMs: 1, maxRetries: 1 } };
  const files = {
    "agent/models.json": JSON.stringify({ providers }),
    "agent/settings.json": JSON.stringify(settings),
  };
  return { ...servers, files };
}
