import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { encodeLine } from "@tau-agent/rpc-protocol/plain";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SessionBuilder } from "./__fixtures__/session-builder.ts";
import { PageImages } from "./entries/page-images.ts";
import { packSession, type SessionLines } from "./session-lines.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-lines-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function packed(session: SessionLines, images = new PageImages()): Promise<Buffer> {
  let text = "";
  for await (const piece of packSession(session, images)) text += piece;
  expect(text).toMatch(/^[\w+/]+=*$/);
  return gunzipSync(Buffer.from(text, "base64"));
}

const source = () => {
  const session = new SessionBuilder();
  session.user("ünï 😀 \ud800");
  session.assistant("yes");
  return session.source();
};

it("writes the entries as in a session file if there is none", async () => {
  const session = source();
  const lines = [session.header, ...session.entries].map(encodeLine).join("");
  expect((await packed(session)).toString()).toBe(lines);
  const gone = { ...session, path: join(directory, "gone.jsonl") };
  expect((await packed(gone)).toString()).toBe(lines);
});

it("contains the bytes of the file, including damaged lines", async () => {
  const path = join(directory, "session.jsonl");
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 1 }), async (parts) => {
      const content = Buffer.concat(parts).map((byte) => (byte === 1 ? 2 : byte));
      writeFileSync(path, content);
      expect(await packed({ ...source(), path })).toEqual(Buffer.from(content));
    }),
    { numRuns: 50 },
  );
});

it("refers to the images of the page, even across the pieces in which a file is read", async () => {
  const path = join(directory, "session.jsonl");
  const image = Buffer.alloc(300_000, "image").toString("base64");
  const other = Buffer.alloc(900_000, "another").toString("base64");
  writeFileSync(path, `{"data":"${image}"}\n{"data":"${other}","again":"${image}"}\n\u0001`);
  const images = new PageImages();
  expect(images.add(image)).toBe(0);
  images.keep();
  expect(images.add(other)).toBe(1);
  images.drop();
  expect((await packed({ ...source(), path }, images)).toString()).toBe(
    `{"data":"\u00010\u0001"}\n{"data":"${other}","again":"\u00010\u0001"}\n\u0001\u0001`,
  );
});
