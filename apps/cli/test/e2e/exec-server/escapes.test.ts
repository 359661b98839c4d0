import { mkdtempSync, rmSync } from "node:fs";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import {
  type Escape,
  escapeId,
  escapes,
} from "../../../../../packages/system/src/sandbox/__fixtures__/escapes.ts";
import { bubblewrapIsMissing } from "../../../../../packages/system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { SandboxedPlace } from "../../../../../packages/system/src/sandbox/__fixtures__/sandboxed-place.ts";
import { describeWith } from "../../../../../scripts/testing/describe-with.ts";
import { slice } from "../../../../../scripts/testing/slice.ts";

const program = [execPath, fileURLToPath(new URL("../../../dist/exec-server.js", import.meta.url))];

/** A file of the host that no exec server serves. */
const ofHosts: ReadonlySet<string> = new Set(["the token of the listener in a file elsewhere"]);

async function attempt(way: Escape): Promise<boolean> {
  await using place = new SandboxedPlace();
  const id = escapeId();
  const end = await way.prepare?.(place, id);
  await place.enterBehind(program, way.policy?.(place));
  try {
    let output = "";
    for (const line of way.lines(place, id)) output += (await place.run(line, 60_000)).output;
    return await way.worked(place, output, id);
  } finally {
    end?.();
  }
}

// The local sandbox tests show that each of these attacks works without a sandbox.
describeWith(bubblewrapIsMissing)("the sandbox behind an exec server", () => {
  const ways = Object.entries(escapes).filter(([name]) => !ofHosts.has(name));
  it.each(slice(ways, 25))("withstands %s", async (_, way) => {
    expect(await attempt(way)).toBe(false);
  });

  it("runs permitted commands", async () => {
    await using place = new SandboxedPlace();
    await place.enterBehind(program);
    // Its /tmp contains what it writes, and Node if that is there.
    const outside = mkdtempSync("/tmp/tau-outside-");
    onTestFinished(() => rmSync(outside, { recursive: true }));
    const { output, outcome } = await place.run(
      `echo new > new.txt && cat new.txt && touch /tmp/x && ls -d /tmp/x ${outside} 2> /dev/null; pwd`,
    );
    expect(outcome).toEqual({ kind: "exited", exitCode: 0 });
    expect(output).toBe(`new\n/tmp/x\n${place.project}\n`);
  });

  it("survives commands that cut their connections", async () => {
    await using place = new SandboxedPlace();
    await place.enterBehind(program, { network: ["example.com"] });
    const cuts = `${execPath} -e '
      const { connect } = require("node:net");
      let left = 60;
      for (let at = 0; at < 60; at += 1) {
        const socket = connect(3128, "127.0.0.1", () => {
          socket.write("GET http://other.example/ HTTP/1.1\\r\\nhost: other.example\\r\\n\\r\\n".repeat(50));
          setTimeout(() => socket.resetAndDestroy(), at);
        }).on("error", () => {}).on("close", () => { left -= 1; if (left === 0) console.log("cut"); });
      }'`;
    expect((await place.run(cuts, 60_000)).output).toBe("cut\n");
    const refused = "curl -sS --max-time 20 http://other.example/";
    const { output } = await place.run(refused, 60_000);
    expect(output).toContain("does not let other.example be reached");
  });
});
