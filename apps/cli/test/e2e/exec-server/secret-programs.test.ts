import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { bubblewrapIsMissing } from "../../../../../packages/system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import type { SandboxedPlace } from "../../../../../packages/system/src/sandbox/__fixtures__/sandboxed-place.ts";
import {
  clients,
  has,
  hidingPlaces,
  shows,
  type World,
  world,
} from "../../../../../packages/system/src/sandbox/__fixtures__/secret-programs.ts";
import { VALUE } from "../../../../../packages/system/src/sandbox/network/__fixtures__/secret-proxy.ts";
import { describeWith } from "../../../../../scripts/testing/describe-with.ts";

const file = fileURLToPath(new URL("../../../dist/exec-server.js", import.meta.url));

/** The log of every frame in both directions, next to the files of the place. */
const frames = ({ outside }: SandboxedPlace) => ({
  sent: join(outside, "sent.jsonl"),
  got: join(outside, "got.jsonl"),
});

const behind = (): Promise<World> =>
  world((place, policy) => {
    const { sent, got } = frames(place);
    const script = 'tee "$1" | "$3" "$4" | tee "$2"';
    return place.enterBehind(["sh", "-c", script, "sh", sent, got, execPath, file], policy);
  });

/** Everything that frames and files of a place reveal of the value; command output is base64 in frames. */
function shown(place: SandboxedPlace): readonly string[] {
  const lines = Object.values(frames(place)).flatMap((path) =>
    readFileSync(path, "utf8").trimEnd().split("\n"),
  );
  expect(lines.length).toBeGreaterThan(4);
  const bytes = lines.flatMap((line) => {
    const { data, params } = JSON.parse(line);
    return [line, Buffer.from(data ?? params?.data ?? "", "base64").toString("latin1")];
  });
  const left = [place.project, place.temporaryDirectory].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      // This file is unreadable.
      .filter((path) => !path.endsWith("closed-file"))
      .map((path) => readFileSync(path, "latin1")),
  );
  return [...bytes, ...left].flatMap(shows);
}

describeWith(bubblewrapIsMissing)("a program in the sandbox behind an exec server", () => {
  it.each(Object.entries(clients).filter(([, { needs }]) => has(needs)))(
    "uses a secret that it cannot see: %s",
    async (_name, { line }) => {
      await using there = await behind();
      const { place, address, seen } = there;
      const home = "export HOME=/tmp PYTHONDONTWRITEBYTECODE=1";
      const { output } = await place.run(`${home} AT=${address}; ${line}`, 120_000);
      const used = seen.filter((each) => each !== null);
      expect(used.length, output).toBeGreaterThan(0);
      expect(output).toContain("said");
      expect([...shows(output), ...shown(place)]).toEqual([]);
    },
  );

  it.each(hidingPlaces)("finds no value in %s", async (_where, line) => {
    await using there = await behind();
    const { place, address, seen } = there;
    // Used once, so that the proxy has it in memory.
    await place.run(`curl -sS -H "Authorization: Bearer $TOKEN" ${address}/`, 60_000);
    await expect.poll(() => seen).toEqual([`Bearer ${VALUE}`]);
    const { output } = await place.run(`export AT=${address}; ${line}`, 60_000);
    expect([...shows(output), ...shown(place)]).toEqual([]);
  });

  it("sees neither the variable with the value nor the exec server", {
    timeout: 60_000,
  }, async () => {
    await using there = await world(async (place, policy) => {
      place.environment.REAL = VALUE;
      const [secret] = policy.secrets ?? [];
      const secrets = [{ hosts: [], env: "TOKEN", ...secret, value: "$REAL" }];
      return place.enterBehind([execPath, file], { ...policy, secrets });
    });
    const { output } = await there.place.run(
      "echo $TOKEN; env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' ' '",
    );
    expect(output).toMatch(/^tau-secret-[0-9a-f]{32}\n/);
    expect(shows(output)).toEqual([]);
    expect(output).not.toContain("exec-server.js");
    const { output: said } = await there.place.run(
      `curl -sS -H "Authorization: Bearer $TOKEN" ${there.address}/`,
      60_000,
    );
    expect(said).toContain("said");
    expect(there.seen).toEqual([`Bearer ${VALUE}`]);
  });
});
