import { expect, it } from "vitest";
import { boundTo, isOfAnother } from "./issuer.ts";

it.each([
  [undefined, false],
  ["https://a.example", false],
  ["https://a.example/", false],
  ["https://a.example/x", true],
  ["https://a.example.evil", true],
])(
  "credentials from %s belong to an issuer other than https://a.example: %s",
  (issuer, isOther) => {
    for (const expected of ["https://a.example", "https://a.example/"]) {
      expect(isOfAnother({ issuer }, expected)).toBe(isOther);
      const kept = { issuer: issuer ?? expected };
      expect(boundTo({ issuer }, expected)).toEqual(isOther ? undefined : kept);
    }
  },
);
