import { expect, it } from "vitest";
import { seatbeltProfile } from "./seatbelt-profile.ts";

const plan = {
  writable: ["/p", "/private/t"],
  readOnly: ["/p/.git/hooks", "/p/.pi"],
  denied: ["/h/auth.json", '/p/a "quoted"\\ name'],
  network: "off",
} as const;

it("allows reading everything that is not denied, and writing only what is listed", () => {
  const lines = seatbeltProfile(plan).split("\n");
  expect(lines.slice(0, 3)).toEqual(["(version 1)", "(allow default)", "(deny file-write*)"]);
  // The last matching rule decides, so denials come after permissions.
  const allowed = lines.indexOf('(allow file-write* (subpath "/p") (subpath "/private/t"))');
  const kept = lines.indexOf('(deny file-write* (subpath "/p/.git/hooks") (subpath "/p/.pi"))');
  expect(allowed).toBeGreaterThan(2);
  expect(kept).toBeGreaterThan(allowed);
  expect(lines).toContain(
    '(deny file-write* file-read* (subpath "/h/auth.json") (subpath "/p/a \\"quoted\\"\\\\ name"))',
  );
  expect(lines).toContain('(deny file-write-unlink (literal "/p/.git"))');
});

it("allows no network, all of it, or only the proxy", () => {
  expect(seatbeltProfile(plan)).toContain("(deny network*)");
  expect(seatbeltProfile({ ...plan, network: "all" })).not.toContain("network");
  const domains = seatbeltProfile({ ...plan, network: { port: 4242 } });
  expect(domains.indexOf("(deny network*)")).toBeLessThan(
    domains.indexOf('(allow network-outbound (remote ip "localhost:4242"))'),
  );
});

it("contains no rule without a path", () => {
  const empty = seatbeltProfile({ writable: [], readOnly: [], denied: [], network: "all" });
  expect(empty).not.toMatch(/file-write\*\)$.*file-read|\(deny file-write\* file-read\*\)|unlink/s);
});
