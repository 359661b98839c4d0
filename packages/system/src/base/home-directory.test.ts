import { homedir } from "node:os";
import { describe, expect, it } from "vitest";
import { findHomeDirectory } from "./home-directory.ts";

const unknown = () => {
  throw new Error("uv_os_homedir returned ENOENT");
};

describe("findHomeDirectory", () => {
  it("returns the system's answer", () => {
    expect(findHomeDirectory()).toBe(homedir());
  });

  it("returns the user's own folder, never the working directory, when HOME is empty", () => {
    const source = { homedir: () => "", userInfo: () => ({ homedir: "/home/ada" }) };
    expect(findHomeDirectory(source)).toBe("/home/ada");
  });

  it("returns the root for a user unknown to the system", () => {
    expect(findHomeDirectory({ homedir: unknown, userInfo: unknown })).toBe("/");
  });
});
