import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { placesIn, temporaryFolder } from "../__fixtures__/test-session.ts";
import { createAgentSession } from "../create-session.ts";

describe("the provider scripted", () => {
  it("plays a scenario file, or lists the folder without one", async () => {
    const places = placesIn(temporaryFolder());
    writeFileSync(join(places.cwd, "only.txt"), "");
    const hello = await createAgentSession({ ...places, provider: "scripted" });
    onTestFinished(() => hello.dispose());
    expect((await hello.prompt("What is here?")).text).toBe("The first thing here is only.txt.");
    writeFileSync(join(places.cwd, "scenario.json"), '["From a file."]');
    const options = { ...places, provider: "scripted", model: "scenario.json" };
    const scripted = await createAgentSession(options);
    onTestFinished(() => scripted.dispose());
    expect((await scripted.prompt("Hello")).text).toBe("From a file.");
  });
});
