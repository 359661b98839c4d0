import type { SessionEntry } from "@tau-agent/rpc-protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEntryId } from "./entries/entry-id.ts";
import { SessionTree } from "./session-tree.ts";

const entry = (id: string, parentId: string | null): SessionEntry => ({
  type: "custom",
  customType: "x",
  id,
  parentId,
  timestamp: "",
});

const ids = (entries: readonly SessionEntry[]) => entries.map(({ id }) => id);

describe("SessionTree", () => {
  it("matches a plain map of parents after any appends and moves", () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant("append" as const) },
      { weight: 1, arbitrary: fc.nat(30) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const tree = new SessionTree();
        const parents = new Map<string, string | null>();
        let leaf: string | null = null;
        for (const next of steps) {
          if (next === "append") {
            const node = tree.createNode();
            expect(node.parentId).toBe(leaf);
            expect(parents.has(node.id)).toBe(false);
            tree.adopt({ type: "custom", customType: "x", ...node });
            parents.set(node.id, leaf);
            leaf = node.id;
          } else {
            leaf = [...parents.keys()][next] ?? null;
            tree.moveLeaf(leaf);
          }
          expect(tree.leafId).toBe(leaf);
        }
        const path: string[] = [];
        for (let id = leaf; id !== null; id = parents.get(id) ?? null) path.unshift(id);
        expect(ids(tree.branch())).toEqual(path);
        expect(ids(tree.entries)).toEqual([...parents.keys()]);
        // A tree built from its entries is the same.
        const again = new SessionTree();
        for (const read of tree.entries) again.adopt(read);
        for (const id of parents.keys())
          expect(ids(again.branch(id))).toEqual(ids(tree.branch(id)));
      }),
    );
  });

  it("ends every branch, whatever parents its entries name", () => {
    const some = fc.constantFrom("a", "b", "c", "d");
    const entries = fc.array(fc.tuple(some, fc.option(some)), { maxLength: 8 });
    fc.assert(
      fc.property(entries, (list) => {
        const tree = new SessionTree();
        for (const [id, parentId] of list) tree.adopt(entry(id, parentId));
        const branch = ids(tree.branch());
        expect(new Set(branch).size).toBe(branch.length);
        expect(branch.at(-1)).toBe(tree.leafId ?? undefined);
      }),
    );
  });

  it("uses the preceding entry in place of a missing parent", () => {
    const tree = new SessionTree();
    tree.adopt(entry("a", null));
    tree.adopt(entry("b", "a"));
    tree.adopt(entry("d", "c"));
    tree.adopt(entry("e", "d"));
    expect(ids(tree.branch())).toEqual(["a", "b", "d", "e"]);
    expect(tree.get("d")?.parentId).toBe("c");
  });

  it("begins a new root if there is no leaf", () => {
    const tree = new SessionTree();
    tree.adopt(entry("a", null));
    tree.moveLeaf(null);
    expect(tree.createNode().parentId).toBeNull();
    expect(tree.branch()).toEqual([]);
  });
});

describe("createEntryId", () => {
  it("draws again while an id is taken, and falls back to a long one", () => {
    let draws = 0;
    expect(createEntryId(() => draws++ < 3)).toMatch(/^[0-9a-f]{8}$/);
    expect(createEntryId(() => true)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  });
});
