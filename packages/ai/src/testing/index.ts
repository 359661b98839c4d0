export {
  type BillingOptions,
  type BillingServer,
  type BillingVendor,
  createBillingServer,
} from "./bill/billing-server.ts";
export type { Bill, BilledRequest } from "./bill/ledger.ts";
export type { LoopbackCredentials } from "./credentials.ts";
export { type Fault, overloaded, rateLimited } from "./fault.ts";
export { loadScenario } from "./load-scenario.ts";
export { type LoopbackApi, loopbackApis } from "./loopback-api.ts";
export { loopbackFetch } from "./loopback-fetch.ts";
export {
  type LoopbackOptions,
  type LoopbackServer,
  type RecordedRequest,
  startLoopbackServer,
} from "./loopback-server.ts";
export { type FixtureInput, type FixtureRequest, recordFixture } from "./record-fixture.ts";
export { type RecordingOptions, recordingFetch } from "./recording-fetch.ts";
export { type ReplayOptions, replayFetch } from "./replay-fetch.ts";
export type { ModelLimits, Refusal } from "./rules/rule.ts";
export {
  type Pacing,
  type Scenario,
  type ScenarioFunction,
  type ScriptedBlock,
  type ScriptedText,
  type ScriptedThinking,
  type ScriptedToolCall,
  type Turn,
  text,
  thinking,
  toolCall,
  turn,
} from "./scenario.ts";
export type { PlainRequest } from "./scenario-player.ts";
export type { ScenarioRequest, SeenToolResult } from "./scenario-request.ts";
export {
  type ScriptedProvider,
  scenarioFileProvider,
  scriptedModel,
  scriptedProvider,
} from "./scripted-provider.ts";
export type { TurnCondition } from "./turn-condition.ts";
export type { KeyPlace, Vendor, VendorRule, VendorSetUp } from "./vendors/vendor.ts";
export { vendors } from "./vendors/vendors.ts";
