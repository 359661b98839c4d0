import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoopbackApi, Turn } from "../../src/testing/index.ts";
import { loopbackApis, text, thinking, toolCall, turn } from "../../src/testing/index.ts";
import { wireFormats } from "../../src/testing/routes.ts";
import { turnDeltas, usageOf } from "../../src/testing/turn-deltas.ts";
import type { WireFormat } from "../../src/testing/wire/wire-format.ts";
import type { Random } from "./random.ts";

/** The events of a valid reply: a scripted one, or a fixture. */
export function validReply(api: LoopbackApi, random: Random): string[] {
  const recorded = fixtures.get(api) ?? [];
  const chosen = recorded[random.below(recorded.length * 2)];
  return splitEvents(chosen ?? scripted(wireFormats[api], random));
}

function scripted(wire: WireFormat, random: Random): string {
  const script = randomTurn(random);
  const usage = usageOf(script, 400);
  const writer = wire.createWriter({ id: `r${random.below(1000)}`, model: "m", usage });
  let bytes = writer.start();
  for (const { delta } of turnDeltas(script, random.below(5), usage)) bytes += writer.write(delta);
  return bytes;
}

const words = [
  "Let me look. ",
  "Ünïcödé 👩‍💻 ",
  "a\nb\n\nc ",
  "日本語 ",
  '{"x":1} ',
  "<b>&amp; ",
] as const;

/** A scripted reply with text, thinking and calls. */
export function randomTurn(random: Random): Turn {
  const prose = (): string =>
    Array.from({ length: 1 + random.below(6) }, () => random.pick(words)).join("");
  const blocks = Array.from({ length: 1 + random.below(4) }, () => {
    const kind = random.below(3);
    if (kind === 0) return text(prose());
    if (kind === 1) return thinking(prose(), { signature: "c2lnbmF0dXJl" });
    const name = random.pick(["read", "bash", "edit"]);
    return toolCall(name, { path: prose(), depth: { list: [1, null, prose()] } });
  });
  return turn(blocks, { chunkSize: 1 + random.below(40) });
}

/** The events of a stream, each including its blank line. */
export function splitEvents(bytes: string): string[] {
  return bytes.split(/(?<=\r?\n\r?\n)/).filter((event) => event.trim() !== "");
}

const source = join(import.meta.dirname, "../../src");

const fixtures = new Map(
  loopbackApis.map((api) => {
    const folder = join(source, api, "__fixtures__");
    const streams = readdirSync(folder).flatMap((name) => {
      const path = join(folder, name, "stream.sse");
      return existsSync(path) ? [readFileSync(path, "utf8")] : [];
    });
    return [api, streams.filter((stream) => stream.includes("data:"))] as const;
  }),
);
