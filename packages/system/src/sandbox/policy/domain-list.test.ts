import fc from "fast-check";
import { expect, it } from "vitest";
import { allowsHost, coversDomain } from "./domain-list.ts";

it.each([
  [["example.com"], "example.com", true],
  [["example.com"], "EXAMPLE.com.", true],
  [["example.com"], "www.example.com", false],
  [["example.com"], "example.com.evil.org", false],
  [["*.example.com"], "www.example.com", true],
  [["*.example.com"], "a.b.example.com", true],
  [["*.example.com"], "example.com", false],
  [["*.example.com"], "evilexample.com", false],
  [["*.0.0.1"], "127.0.0.1", false],
  [["*.1"], "0x7f.1", false],
  [["127.0.0.1"], "127.0.0.1", true],
  [["::1"], "[::1]", true],
  [["localhost"], "127.0.0.1", false],
  [["example.com"], "", false],
  [[], "example.com", false],
] as const)("with %j, %s: %s", (domains, host, allowed) => {
  expect(allowsHost(domains, host)).toBe(allowed);
});

it("accepts a name in any case, with or without a trailing dot", () => {
  fc.assert(
    fc.property(fc.domain(), (name) => {
      expect(allowsHost([name], `${name.toUpperCase()}.`)).toBe(true);
      expect(allowsHost([`*.${name}`], `x.${name}`)).toBe(true);
      expect(allowsHost([`*.${name}`], name)).toBe(false);
    }),
  );
});

it.each([
  [["*.example.com"], "a.example.com", true],
  [["*.example.com"], "*.a.example.com", true],
  [["*.example.com"], "*.example.com", true],
  [["*.a.example.com"], "*.example.com", false],
  [["x.example.com"], "*.example.com", false],
  [["*.0.0.1"], "127.0.0.1", false],
  [["Example.com."], "example.COM", true],
] as const)("%j covers all of %s: %s", (domains, domain, isCovered) => {
  expect(coversDomain(domains, domain)).toBe(isCovered);
});
