import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeClientFrame } from "./frame.ts";
import { FrameDecoder } from "./frame-decoder.ts";
import { encodeLine } from "./jsonl.ts";

/** The id in the response to a line, as its sender reads it. */
function echo(line: string, more: object = {}): string | undefined {
  const decoded = decodeClientFrame(line);
  const id = "id" in decoded ? decoded.id : undefined;
  return /^\{"id":(.*?),"type"/.exec(encodeLine({ id, type: "response", ...more }))?.[1];
}

describe("the id of a command", () => {
  it.each(["1763712000123456789", "-9007199254740993", "0.1234567890123456789", "1e400", "1E2"])(
    "%s is returned as it was sent",
    (id) => {
      expect(echo(`{"id":${id},"type":"abort"}`)).toBe(id === "1E2" ? "100" : id);
      expect(echo(`{"type":"no_such_command", "id" : ${id} }`)).toBe(id === "1E2" ? "100" : id);
    },
  );

  it("is that of the command, even if other members have an id", () => {
    const id = "12345678901234567890";
    const params = `"message":"x","images":[{"id":99999999999999999999}],"id":1,"id":${id}`;
    expect(echo(`{"type":"prompt",${params}}`)).toBe(id);
  });

  it("stays exact next to a value that JSON cannot express", () => {
    const id = "12345678901234567890";
    expect(echo(`{"id":${id},"type":"abort"}`, { data: 1n })).toBe(id);
  });

  it("is not recovered in a line nested too deeply for a second parse", () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    expect(echo(`{"id":1.5,"type":"abort","x":${deep}}`)).toBe("1.5");
  });

  it("is returned for every number and text", () => {
    const ids = fc.oneof(
      fc.bigInt(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
    );
    fc.assert(
      fc.property(ids, (id) => {
        const sent = typeof id === "bigint" ? String(id) : JSON.stringify(id);
        const got = echo(`{"id":${sent},"type":"abort"}`);
        if (typeof id === "bigint") expect(got).toBe(sent);
        else expect(JSON.parse(got ?? "")).toEqual(JSON.parse(sent));
      }),
    );
  });

  it("is exact for the first command to a host, too", async () => {
    const ids: unknown[] = [];
    const decoder = new FrameDecoder((frame) => ids.push("id" in frame && frame.id));
    decoder.push('{"id":1763712000123456789,"type":"get_state"}');
    await decoder.idle();
    expect(encodeLine(ids)).toBe("[1763712000123456789]\n");
  });
});
