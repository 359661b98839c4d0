import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { sessionFile } from "./__fixtures__/random-session.ts";
import { assistant, message, temporaryFolder, user } from "./__fixtures__/session-files.ts";
import { readSession } from "./read-session.ts";
import { SessionLog } from "./session-log.ts";
import { UserTexts, userMessageOf, userText } from "./user-texts.ts";

const numRuns = Number(process.env.TAU_RANDOM_SESSIONS ?? 40);

it("equal those of the entries, as values and as JSON", async () => {
  const path = join(temporaryFolder(), "session.jsonl");
  await fc.assert(
    fc.asyncProperty(sessionFile, async (bytes) => {
      writeFileSync(path, bytes);
      const session = await readSession(path).catch(() => undefined);
      fc.pre(session !== undefined);
      const { tree, lines } = session;
      const texts = new UserTexts(tree);
      const [values, json] = [texts.toJSON(), Buffer.concat(texts.json).toString()];
      const expected = tree.branch().flatMap((entry) => {
        const said = userMessageOf(entry);
        return said === undefined ? [] : [{ entryId: entry.id, text: userText(said) }];
      });
      lines.close();
      expect(values).toEqual(expected);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns },
  );
});

it("are copied from the file without being parsed", async () => {
  const path = join(temporaryFolder(), "session.jsonl");
  const log = SessionLog.create({ cwd: "/", path });
  const said = ['plain "words"\n', "with \u2028 and 😀", ""];
  for (const text of said) log.append(message(user(text)));
  log.append(message(user([{ type: "text", text: "in a block" }])));
  log.append(message(assistant("answer")));
  log.close();
  const { tree, lines } = await readSession(path);
  const refuse = (): never => {
    throw new Error("parsed");
  };
  const read = lines.read.bind(lines);
  tree.readFrom({ read, entry: refuse, values: refuse, lists: refuse });
  const texts = JSON.parse(Buffer.concat(new UserTexts(tree).json).toString());
  lines.close();
  expect(texts.map(({ text }: { text: string }) => text)).toEqual([...said, "in a block"]);
});

it("are computed once, until the branch changes", () => {
  const log = SessionLog.create({ cwd: "/" });
  const first = log.append(message(user("first")));
  const texts = new UserTexts(log.tree);
  expect(texts.json).toBe(texts.json);
  expect(texts.isOf(log.tree)).toBe(true);
  log.append(message(assistant("answer")));
  expect(texts.isOf(log.tree)).toBe(false);
  const longer = new UserTexts(log.tree);
  log.tree.moveLeaf(first.id);
  expect(longer.isOf(log.tree)).toBe(false);
});
