import { describe, expect, it } from "vitest";
import { isLoopback } from "./loopback.ts";

describe("isLoopback", () => {
  it.each([
    "http://localhost:11434/v1",
    "http://127.1.2.3",
    "http://[::1]:8080",
    "http://a.localhost",
  ])("accepts %s", (url) => expect(isLoopback(url)).toBe(true));

  it.each([
    "https://api.openai.com/v1",
    "http://localhost.example.com",
    "http://10.0.0.1",
    "",
    "x",
  ])("refuses %s", (url) => expect(isLoopback(url)).toBe(false));
});
