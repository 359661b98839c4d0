import { describe, expect, it } from "vitest";
import { repositoryFields, repositoryUrl, withRepository } from "./repository-fields.ts";

describe("the address of the repository", () => {
  it.each([
    [undefined, undefined],
    [{ type: "git", url: " " }, undefined],
    [{ type: "git", url: "https://example.com/tau/tau/" }, "https://example.com/tau/tau"],
  ])("of %j is %j", (repository, url) => {
    expect(repositoryUrl({ repository })).toBe(url);
  });

  it.each(["example.com/tau/tau", "git@example.com:tau/tau.git", "https://example.com"])(
    "%s is refused with a hint",
    (url) => {
      expect(() => repositoryUrl({ repository: { url } })).toThrow(/such as https:/);
    },
  );

  it("is written into a manifest once, in the form that npm does not correct", () => {
    const manifest = { name: "a", description: "b", license: "MIT", type: "module" };
    const fields = repositoryFields("https://example.com/tau/tau", "packages/ai");
    const written = withRepository(manifest, fields);
    expect(written).toEqual({
      ...manifest,
      homepage: "https://example.com/tau/tau/tree/main/packages/ai#readme",
      bugs: { url: "https://example.com/tau/tau/issues" },
      repository: {
        type: "git",
        url: "git+https://example.com/tau/tau.git",
        directory: "packages/ai",
      },
    });
    expect(Object.keys(withRepository(written, fields))).toEqual(Object.keys(written));
    expect(withRepository(written, undefined)).toEqual(manifest);
  });
});
