import { expect, it } from "vitest";
import { proxyStep } from "./unreached-proxy.ts";

const vendor = "https://api.vendor.test/v1";

it.each([
  ["getaddrinfo ENOTFOUND nope", vendor, "The proxy nope cannot be reached; check httpProxy"],
  ["connect ECONNREFUSED 127.0.0.1:3128", vendor, "The proxy 127.0.0.1:3128 cannot be reached"],
  ["connect ECONNREFUSED ::1:3128", "http://h.test:8080", "The proxy ::1:3128 cannot be reached"],
  [
    "Proxy response (407) !== 200 when HTTP Tunneling (UND_ERR_ABORTED)",
    vendor,
    "The proxy refused the connection; check httpProxy",
  ],
])("for %j at %s names the proxy and where it is set", (message, baseUrl, text) => {
  expect(proxyStep(message, baseUrl)).toContain(text);
});

it.each([
  ["getaddrinfo ENOTFOUND api.vendor.test", vendor],
  ["connect ECONNREFUSED 203.0.113.5:443", vendor],
  ["connect ECONNREFUSED 127.0.0.1:11434", "http://localhost:11434/v1"],
  ["socket hang up", vendor],
  ["getaddrinfo ENOTFOUND nope", "not an address"],
])("does not mention a proxy for %j at %s", (message, baseUrl) => {
  expect(proxyStep(message, baseUrl)).toBeUndefined();
});
