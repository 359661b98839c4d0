import { expect, it } from "vitest";
import { placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import { createAgentSession } from "./create-agent-session.ts";

it.each([
  [{ provider: "nobody" }, "Invalid option provider: "],
  [{ session: { kind: "new", id: "a/b" } }, "Invalid option session.id: "],
] as const)("names the option of the library that is wrong: %o", async (options, text) => {
  const places = placesIn(temporaryFolder());
  const refused = createAgentSession({ ...places, provider: "scripted", ...options });
  await expect(refused).rejects.toThrow(text);
});
