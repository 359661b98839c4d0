import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import {
  createTestSession,
  keyless,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";

async function retentionIn(
  settings: Record<string, unknown>,
  environment: Record<string, string> = {},
): Promise<unknown> {
  await using server = await startLoopbackServer({ scenario: ["Hello."] });
  const places = placesIn(temporaryFolder());
  const directory = String(places.agentDirectory);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "settings.json"), JSON.stringify(settings));
  const { session } = await createTestSession([], {
    ...places,
    model: server.model("openai-responses"),
    providers: [keyless("loopback")],
    stream: createStream(),
    environment: { PATH: process.env.PATH, ...environment },
  });
  await session.prompt("Hi");
  const body = server.requests[0]?.body as Record<string, unknown> | undefined;
  const { prompt_cache_key: key, prompt_cache_retention: retention } = body ?? {};
  return key === undefined ? "none" : (retention ?? "short");
}

it.each([
  [{}, {}, "short"],
  [{ cacheRetention: "long" }, {}, "24h"],
  [{ cacheRetention: "none" }, {}, "none"],
  [{}, { PI_CACHE_RETENTION: "long" }, "24h"],
  [{ cacheRetention: "long" }, { PI_CACHE_RETENTION: "none" }, "none"],
  [{ cacheRetention: "long" }, { PI_CACHE_RETENTION: "forever" }, "24h"],
])(
  "settings %j and environment %j request a cache that lives %s",
  async (settings, environment, expected) => {
    expect(await retentionIn(settings, environment)).toBe(expected);
  },
);
