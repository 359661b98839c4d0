import { expect, it } from "vitest";
import { readIgnoreRules } from "./ignore-rules.ts";

it.each([
  ["*.log", "a/b.log", "ignored"],
  ["*.log", "a/b.txt", undefined],
  ["/build", "build", "ignored"],
  ["/build", "a/build", undefined],
  ["a/b", "a/b", "ignored"],
  ["a/b", "x/a/b", undefined],
  ["doc/**", "doc/a/b", "ignored"],
  ["doc/**", "doc", undefined],
  ["**/cache", "x/cache", "ignored"],
  ["a/**/z", "a/z", "ignored"],
  ["*.log\n!keep.log", "keep.log", "wanted"],
  ["!keep.log\n*.log", "keep.log", "ignored"],
  ["# note\n\n", "# note", undefined],
  ["\\#file", "#file", "ignored"],
  ["\\!file", "!file", "ignored"],
  ["name  ", "name", "ignored"],
  ["name\\ ", "name ", "ignored"],
  ["*.{a,b}", "x.a", undefined],
  ["*.{a,b}", "x.{a,b}", "ignored"],
  ["[ab].c\r\n*.d\r\n", "b.c", "ignored"],
])("%j says of %s: %s", (text, path, verdict) => {
  expect(readIgnoreRules(text)(path, false)).toBe(verdict);
});

it("keeps a rule with a slash at its end for directories", () => {
  const rulesOn = readIgnoreRules("out/\n");
  expect([rulesOn("a/out", true), rulesOn("a/out", false)]).toEqual(["ignored", undefined]);
});

it("stops applying rules when a repository has more than can be tried in time", () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `*a${at}*b*`).join("\n");
  const rules = readIgnoreRules(text);
  const began = performance.now();
  for (let at = 0; at < 200; at += 1) rules(`${"a".repeat(30)}${at}`, false);
  expect(performance.now() - began).toBeLessThan(6000);
});
