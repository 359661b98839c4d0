// In the lowest package: the worker uses it, too.
export { nearest, nearestHint } from "@tau-agent/rpc-protocol/plain";
