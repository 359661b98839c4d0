import { homedir } from "node:os";
import { describe, expect, it } from "vitest";
import { findHomeDirectory } from "./home-directory.ts";

const unknown = () => {
  throw new Error("uv_os_homedir returned ENOENT");
};

describe("findHomeDirectory", () => {
  it("is the system's answer", () => {
    expect(findHomeDirectory()).toBe(homedir());
  });

  it("is the user's own when HOME is empty, never the working directory", () => {
    const source = { homedir: () => "", userInfo: () => ({ homedir: "/home/ada" }) };
    expect(findHomeDirectory(source)).toBe("/home/ada");
  });

  it("is the root for a user unknown to the system", () => {
    expect(findHomeDirectory({ homedir: unknown, userInfo: unknown })).toBe("/");
  });
});
