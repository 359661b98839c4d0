import type { SessionKey } from "../../log/store/session-store.ts";
import { type Bench, type Check, ensure, same } from "./bench.ts";

/** Pairs of names that careless stores confuse. */
const lookalikes: readonly (readonly [string, string])[] = [
  ["case", "Case"],
  ["caf\u00e9", "cafe\u0301"],
  ["plain", "plain "],
  ["plain", " plain"],
  ["dot", "./dot"],
  ["dot", "dot/."],
  ["up/../name", "name"],
  ["percent%2Fname", "percent/name"],
  ["a%b", "aab"],
  ["a_b", "axb"],
  ["nul\u0000a", "nul"],
  ["nul\u0000a", "nul\u0000b"],
  ["lone\ud800", "lone\ud801"],
  ["lone\ud800", "lone\ufffd"],
  ["quote'", "quote''"],
  ['quote"', 'quote\\"'],
  ["back\\slash", "back/slash"],
  ["a*", "ab"],
  ["a?", "ab"],
  ["[ab]", "a"],
  ["{a}", "a"],
  ["__proto__", "constructor"],
  [".", ".."],
  ["new\nline", "new line"],
  ["l".repeat(300), "l".repeat(301)],
  ["l".repeat(5000) + "a", "l".repeat(5000) + "b"],
];

/** Pairs of keys whose parts could run into each other. */
const borders: readonly (readonly [SessionKey, SessionKey])[] = [
  "/",
  ":",
  "\u0000",
  "-",
  "\n",
  "|",
  ",",
  '","',
  "__",
].flatMap(
  (border) =>
    [
      [
        { projectKey: `a${border}b`, sessionId: "c" },
        { projectKey: "a", sessionId: `b${border}c` },
      ],
      [
        { projectKey: "a", sessionId: "b", subpath: "c" },
        { projectKey: "a", sessionId: `b${border}c` },
      ],
      [
        { projectKey: "a", sessionId: "b", subpath: `c${border}d` },
        { projectKey: "a", sessionId: `b${border}c`, subpath: "d" },
      ],
    ] as const,
);

/** Keys may be any text, and different keys never collide. */
export const keyChecks: readonly Check[] = [
  {
    name: "session ids are never mixed",
    run: (bench) => {
      const pairs = lookalikes.map(([left, right], index) => {
        const projectKey = `${bench.projectKey} ${index}`;
        return [
          { projectKey, sessionId: left },
          { projectKey, sessionId: right },
        ] as const;
      });
      return areApart(bench, pairs);
    },
  },
  {
    name: "subpaths are never mixed",
    run: (bench) => {
      const pairs = lookalikes.map(([left, right], index) => {
        const session = `session ${index}`;
        return [bench.key(session, left), bench.key(session, right)] as const;
      });
      return areApart(bench, pairs);
    },
  },
  {
    name: "project keys are never mixed",
    run: (bench) => {
      const inProject = (name: string, index: number): SessionKey => {
        return { projectKey: `${name} ${bench.projectKey} ${name}`, sessionId: `session ${index}` };
      };
      const pairs = lookalikes.map(([left, right], index) => {
        return [inProject(left, index), inProject(right, index)] as const;
      });
      return areApart(bench, pairs);
    },
  },
  {
    name: "the parts of a key stay apart",
    run: (bench) => {
      const pairs = borders.map(([left, right], index) => {
        const own = (key: SessionKey): SessionKey => {
          return { ...key, projectKey: `${bench.projectKey} ${index} ${key.projectKey}` };
        };
        return [own(left), own(right)] as const;
      });
      return areApart(bench, pairs);
    },
  },
  {
    name: "list() has the sessions of one project",
    run: async (bench) => {
      const ids = ["one", "Two", "three/four", "f\u00fcnf \ud83d\udca9", "nul\u0000", "lone\ud800"];
      for (const id of ids) await bench.write(bench.key(id), bench.entries(1));
      await bench.write(bench.key("one", "part"), bench.entries(1));
      const other = { projectKey: `${bench.projectKey}x`, sessionId: "other" };
      await bench.write(other, bench.entries(1));
      const empty = await bench.acquire(bench.key("empty"));
      const listed = await bench.store.list(bench.projectKey);
      await bench.store.release(empty);
      same(
        listed.map(({ sessionId }) => sessionId).sort(),
        [...ids].sort(),
        "list() returned others",
      );
      for (const { projectKey, modifiedAt } of listed) {
        same(projectKey, bench.projectKey, "list() returned another projectKey");
        const isTime = typeof modifiedAt === "number" && modifiedAt > 1e12 && modifiedAt < 1e14;
        ensure(isTime, `list() returned a modifiedAt that is not in milliseconds: ${modifiedAt}`);
      }
      same(await bench.store.list(`${bench.projectKey}y`), [], "list() of an unknown project");
    },
  },
];

/** Writes to both keys of each pair, and checks that neither sees data of the other. */
async function areApart(
  bench: Bench,
  pairs: readonly (readonly [SessionKey, SessionKey])[],
): Promise<void> {
  await Promise.all(
    pairs.map(async ([left, right]) => {
      const shown = JSON.stringify([left, right]);
      const one = [bench.entry()];
      const two = [bench.entry()];
      const first = await bench.acquire(left);
      const second = await bench.acquire(right).catch((cause: unknown) => {
        throw new Error(`a lease of one of these keys held the other: ${shown}`, { cause });
      });
      await bench.store.append(left, one, first);
      await bench.store.append(right, two, second);
      same(await bench.store.load(left), one, `${shown} were mixed`);
      same(await bench.store.load(right), two, `${shown} were mixed`);
      await bench.store.release(first);
      await bench.store.delete(left);
      same(await bench.store.load(right), two, `deleting the first of ${shown} took the second`);
      await bench.store.release(second);
      await bench.store.delete(right);
    }),
  );
}
