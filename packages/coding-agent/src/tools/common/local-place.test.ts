import { expect, it } from "vitest";
import { unpacked } from "./local-place.ts";

it.each([
  [
    "/opt/App/resources/app.asar/node_modules/rg",
    "/opt/App/resources/app.asar.unpacked/node_modules/rg",
  ],
  ["C:\\App\\resources\\app.asar\\rg.exe", "C:\\App\\resources\\app.asar.unpacked\\rg.exe"],
  ["/opt/App/resources/app.asar.unpacked/rg", "/opt/App/resources/app.asar.unpacked/rg"],
  ["/home/me/node_modules/rg", "/home/me/node_modules/rg"],
])("starts %s as %s", (path, started) => {
  expect(unpacked(path)).toBe(started);
});
